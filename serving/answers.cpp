#include "serving/answers.hpp"

#include "words/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace troupe {

namespace {

std::string quoted_json(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_element(std::string& to, const tensor& t, size_t i) {
  const auto number = [&to](auto x) {
    char digits[32];
    to.append(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
  };
  const auto real = [&](auto x) { std::isfinite(x) ? number(x) : void(to += "null"); };
  switch (t.type()) {
    case dtype::float32: return real(t.as<float>()[i]);
    case dtype::float64: return real(t.as<double>()[i]);
    case dtype::int32: return number(t.as<int32_t>()[i]);
    case dtype::int64: return number(t.as<int64_t>()[i]);
    case dtype::uint8: return number(static_cast<int>(t.as<uint8_t>()[i]));
    case dtype::boolean: to += t.as<bool>()[i] ? "true" : "false";
  }
}

/// The longest text of one element, in bytes.
size_t digits_max(dtype type) {
  switch (type) {
    case dtype::float32: return std::string_view{"-1.17549435e-38"}.size();
    case dtype::float64: return std::string_view{"-2.2250738585072014e-308"}.size();
    case dtype::int32: return std::string_view{"-2147483648"}.size();
    case dtype::int64: return std::string_view{"-9223372036854775808"}.size();
    case dtype::uint8:
    case dtype::boolean: break;
  }
  return std::string_view{"false"}.size();
}

/// Appends the elements from index `at` on as nested lists, one level for each axis from `axis` on.
void append_lists(std::string& to, const tensor& t, int axis, size_t& at) {
  if (axis == t.dims().rank())
    return append_element(to, t, at++);
  to += '[';
  for (int64_t i = 0; i < t.dims()[axis]; ++i) {
    to += i > 0 ? ", " : "";
    append_lists(to, t, axis + 1, at);
  }
  to += ']';
}

/// Writes the rows of an output, or its words: indices below the number of outputs are outputs, those above are words.
class writer {
 public:
  writer(const served_signature& signature, std::span<const tensor> outputs)
    : signature_(signature), outputs_(outputs) {}

  size_t count() const { return signature_.outputs.size() + signature_.words.size(); }
  std::string name(size_t i) const {
    return quoted_json(i < signature_.outputs.size() ? signature_.outputs[i].name
                                                     : signature_.words[i - signature_.outputs.size()].name);
  }
  /// Appends row `row` of output `i`, or all rows as a list.
  void append(std::string& to, size_t i, std::optional<int64_t> row) const {
    const bool is_words = i >= outputs_.size();
    const auto* const words = is_words ? &signature_.words[i - outputs_.size()] : nullptr;
    const tensor& t = outputs_[is_words ? words->of : i];
    const size_t per_row = t.dims()[0] > 0 ? static_cast<size_t>(t.elements() / t.dims()[0]) : 0;
    size_t at = row ? static_cast<size_t>(*row) * per_row : 0;
    is_words ? append_words(to, *words, t, row ? 1 : 0, at) : append_lists(to, t, row ? 1 : 0, at);
  }

 private:
  static void append_words(std::string& to, const served_words& w, const tensor& t, int axis, size_t& at) {
    if (axis == t.dims().rank()) {
      const int64_t index = t.type() == dtype::int64   ? t.as<int64_t>()[at]
                            : t.type() == dtype::int32 ? t.as<int32_t>()[at]
                                                       : -1;
      ++at;
      to += index >= 0 && index < std::ssize(w.words) ? quoted_json(w.words[static_cast<size_t>(index)]) : "null";
      return;
    }
    to += '[';
    for (int64_t i = 0; i < t.dims()[axis]; ++i) {
      to += i > 0 ? ", " : "";
      append_words(to, w, t, axis + 1, at);
    }
    to += ']';
  }

  const served_signature& signature_;
  std::span<const tensor> outputs_;
};

/// Writes a single output without its name, and several outputs as an object.
void append_outputs(std::string& to, const writer& w, std::optional<int64_t> row) {
  if (w.count() == 1)
    return w.append(to, 0, row);
  to += '{';
  for (size_t i = 0; i < w.count(); ++i) {
    to.append(i > 0 ? ", " : "").append(w.name(i)).append(": ");
    w.append(to, i, row);
  }
  to += '}';
}

std::string type_name(dtype type) {
  switch (type) {
    case dtype::float32: return "DT_FLOAT";
    case dtype::float64: return "DT_DOUBLE";
    case dtype::int32: return "DT_INT32";
    case dtype::int64: return "DT_INT64";
    case dtype::boolean: return "DT_BOOL";
    case dtype::uint8: return "DT_UINT8";
  }
  return "DT_INVALID";
}

/// Appends `text` with each backquote replaced by a double quote: JSON in the source stays readable.
void append_json(std::string& to, std::string_view text) {
  for (const char c : text)
    to += c == '`' ? '"' : c;
}

void append_tensor_info(std::string& to, const std::string& name, const std::string& type, const shape& row) {
  to.append(quoted_json(name)).append(": ");
  append_json(to, "{`dtype`: `" + type + "`, `tensor_shape`: {`dim`: [{`size`: `-1`, `name`: ``}");
  for (const int64_t extent : row.extents())
    append_json(to, ", {`size`: `" + std::to_string(extent) + "`, `name`: ``}");
  append_json(to, "], `unknown_rank`: false}, `name`: ");
  to.append(quoted_json(name)).append("}");
}

}  // namespace

answer_row_bytes bytes_of_row(const served_signature& signature) {
  double text = 8, outputs = 0;  // In double, because extents may be of any size.
  const auto add = [&](const component& c, const std::string& name, size_t element) {
    constexpr size_t around = 8;  // Quotes, colon, commas, blanks and brackets.
    text += static_cast<double>(quoted_json(name).size() + around);
    double lists = 1;
    for (const int64_t extent : c.dims.extents()) {
      text += lists * 4;
      lists *= static_cast<double>(extent);
    }
    text += lists * static_cast<double>(element + 2);
  };
  for (const auto& c : signature.outputs) {
    add(c, c.name, digits_max(c.type));
    outputs += static_cast<double>(size_of(c.type))
               * std::accumulate(c.dims.extents().begin(), c.dims.extents().end(), 1.0, std::multiplies{});
  }
  for (const auto& w : signature.words) {
    size_t longest = std::string_view{"null"}.size();
    for (const auto& word : w.words)
      longest = std::max(longest, quoted_json(word).size());
    add(signature.outputs[w.of], w.name, longest);
  }
  constexpr double most = 0x1p60;
  return {static_cast<int64_t>(std::min(text, most)), static_cast<int64_t>(std::min(outputs, most))};
}

std::string predict_answer(const predict_request& request, const served_signature& signature,
                           std::span<const tensor> outputs, int64_t bytes) {
  const writer w{signature, outputs};
  std::string body;
  body.reserve(static_cast<size_t>(bytes));
  if (!request.by_rows) {
    body = "{\"outputs\": ";
    append_outputs(body, w, {});
    return body += "}\n";
  }
  body = "{\"predictions\": [";
  for (int64_t row = 0; row < request.rows; ++row) {
    body += row > 0 ? ", " : "";
    append_outputs(body, w, row);
  }
  return body += "]}\n";
}

// Written without nlohmann's values: their destructors end the program where they find no memory.
std::string metadata_answer(const std::string& model, int64_t version, const served_signatures& signatures) {
  std::string text;
  append_json(text, "{`model_spec`: {`name`: ");
  text += quoted_json(model);
  append_json(text, ", `signature_name`: ``, `version`: `" + std::to_string(version)
                        + "`},\n `metadata`: {`signature_def`: {`signature_def`: {");
  const char* before = "\n  ";
  for (const auto& [name, s] : signatures) {
    text.append(std::exchange(before, ",\n  ")).append(quoted_json(name));
    append_json(text, ": {`inputs`: {");
    const char* between = "";
    for (const auto& c : s.inputs)
      append_tensor_info(text.append(std::exchange(between, ", ")), c.name, type_name(c.type), c.dims);
    append_json(text, "},\n   `outputs`: {");
    between = "";
    for (const auto& c : s.outputs)
      append_tensor_info(text.append(std::exchange(between, ", ")), c.name, type_name(c.type), c.dims);
    for (const auto& w : s.words)
      append_tensor_info(text.append(std::exchange(between, ", ")), w.name, "DT_STRING", s.outputs[w.of].dims);
    append_json(text, "},\n   `method_name`: `tensorflow/serving/predict`}");
  }
  return text += "\n }}}}\n";
}

std::string status_answer(int64_t version) {
  std::string text;
  append_json(text, "{`model_version_status`: [{`version`: `" + std::to_string(version)
                        + "`, `state`: `AVAILABLE`, `status`: {`error_code`: `OK`, `error_message`: ``}}]}\n");
  return text;
}

std::string error_answer(std::string_view message) { return "{\"error\": " + quoted_json(message) + "}\n"; }

int http_status(errc category) noexcept {
  switch (category) {
    case errc::invalid_argument: return 400;
    case errc::not_found: return 404;
    case errc::resource_exhausted: return 429;
    case errc::unimplemented: return 501;
    case errc::unavailable:
    case errc::cancelled: return 503;
    case errc::deadline_exceeded: return 504;
    default: return 500;
  }
}

}  // namespace troupe
