// Writes one prediction as a line of CSV or JSON.
#include "words/text.hpp"

#include <troupe/prediction_file.hpp>

#include <nlohmann/json.hpp>

#include <cmath>

namespace troupe {

namespace {

/// Element `i` as text; non-finite values as "nan", "inf" or "-inf".
std::string element(const tensor& t, int64_t i) {
  const auto at = static_cast<size_t>(i);
  switch (t.type()) {
    case dtype::float32: return shortest_text(t.as<float>()[at]);
    case dtype::float64: return shortest_text(t.as<double>()[at]);
    case dtype::int32: return shortest_text(t.as<int32_t>()[at]);
    case dtype::int64: return shortest_text(t.as<int64_t>()[at]);
    case dtype::boolean: return t.as<bool>()[at] ? "true" : "false";
    case dtype::uint8: return shortest_text(t.as<uint8_t>()[at]);
  }
  return {};
}

bool is_finite(const tensor& t, int64_t i) {
  const auto at = static_cast<size_t>(i);
  return t.type() == dtype::float32 ? std::isfinite(t.as<float>()[at])
                                    : t.type() != dtype::float64 || std::isfinite(t.as<double>()[at]);
}

std::string csv_field(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos)
    return field;
  std::string text = "\"";
  for (char c : field)
    text.append(c == '"' ? 2 : 1, c);
  return text + '"';
}

/// The name of a CSV column: "x" for a scalar, "x_0_1" for an element of a tensor.
std::string column(const std::string& name, const shape& dims, int64_t i) {
  std::string suffix;
  for (int axis = dims.rank() - 1; axis >= 0; i /= dims[axis--])
    suffix = "_" + std::to_string(i % dims[axis]) + suffix;
  return name + suffix;
}

/// Calls `value(name, tensor)` or `text(name, words)` for every value and text, ordered by name.
template <class Value, class Text>
void in_order(const prediction& one, Value value, Text text) {
  auto words = one.texts.begin();
  for (const auto& [name, tensor] : one.values) {
    for (; words != one.texts.end() && words->first < name; ++words)
      text(words->first, words->second);
    value(name, tensor);
  }
  for (; words != one.texts.end(); ++words)
    text(words->first, words->second);
}

std::string csv_record(const std::vector<std::string>& fields) { return joined(fields, ",", csv_field) + "\n"; }

/// A JSON string. Invalid UTF-8 is replaced, so that the line stays valid JSON.
std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_value(const tensor& t, int axis, int64_t& at) {
  if (axis == t.dims().rank()) {
    const int64_t i = at++;
    return is_finite(t, i) ? element(t, i) : "null";
  }
  std::string list = "[";
  for (int64_t i = 0; i < t.dims()[axis]; ++i)
    list += (i ? "," : "") + json_value(t, axis + 1, at);
  return list + "]";
}

}  // namespace

std::string_view to_string(prediction_format f) noexcept {
  switch (f) {
    case prediction_format::csv: return "csv";
    case prediction_format::jsonl: return "jsonl";
    case prediction_format::npy: return "npy";
  }
  return "unknown";
}

std::string csv_header(const prediction& one) {
  std::vector<std::string> names;
  in_order(
      one,
      [&](const std::string& name, const tensor& t) {
        for (int64_t i = 0; i < t.elements(); ++i)
          names.push_back(column(name, t.dims(), i));
      },
      [&](const std::string& name, const std::vector<std::string>& words) {
        for (size_t i = 0; i < words.size(); ++i)
          names.push_back(words.size() == 1 ? name : name + "_" + std::to_string(i));
      });
  return csv_record(names);
}

std::string csv_line(const prediction& one) {
  std::vector<std::string> fields;
  in_order(
      one,
      [&](const std::string&, const tensor& t) {
        for (int64_t i = 0; i < t.elements(); ++i)
          fields.push_back(element(t, i));
      },
      [&](const std::string&, const std::vector<std::string>& words) {
        fields.insert(fields.end(), words.begin(), words.end());
      });
  return csv_record(fields);
}

std::string json_line(const prediction& one) {
  std::string line = "{";
  const auto add = [&line](const std::string& name, const std::string& value) {
    line += (line.size() > 1 ? "," : "") + json_text(name) + ":" + value;
  };
  in_order(
      one,
      [&](const std::string& name, const tensor& t) {
        int64_t at = 0;
        add(name, json_value(t, 0, at));
      },
      [&](const std::string& name, const std::vector<std::string>& words) {
        const std::string list = joined(words, ",", json_text);
        add(name, words.size() == 1 ? list : "[" + list + "]");
      });
  return line + "}\n";
}

}  // namespace troupe
