#include "ensemble/reports_json.hpp"

#include "ensemble/names.hpp"

#include <cmath>

namespace troupe::search_json {

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

std::string to_hex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.append({hex_digits[byte >> 4], hex_digits[byte & 15]});
  }
  return text;
}

std::string from_hex(const entry& e) {
  const auto text = e.text();
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    const size_t high = hex_digits.find(text[i]),
                 low = i + 1 < text.size() ? hex_digits.find(text[i + 1]) : std::string::npos;
    if (high == std::string::npos || low == std::string::npos)
      e.refuse("pairs of hexadecimal digits");
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

json value_json(bool x) { return x; }
json value_json(int64_t x) { return x; }
json value_json(double x) { return std::isfinite(x) ? json(x) : json{{"float", as_json(x)}}; }
json value_json(const std::string& x) { return is_utf8(x) ? json(x) : json{{"bytes", to_hex(x)}}; }

json values_json(const report_values& values) {
  json all = json::object();
  for (const auto& [key, value] : values)
    all[key] = std::visit([](const auto& x) { return value_json(x); }, value);
  return all;
}

report_value value_in(const entry& e) {
  const auto& value = e.value();
  if (value.is_boolean())
    return e.boolean();
  if (value.is_number_integer())
    return e.integer();
  if (value.is_number())
    return e.number();
  if (value.is_string())
    return e.text();
  if (value.is_object() && value.size() == 1 && e.has("float"))
    return e.at("float").number();
  if (value.is_object() && value.size() == 1 && e.has("bytes"))
    return from_hex(e.at("bytes"));
  e.refuse("true, false, a number or a text");
}

report_values values_in(const entry& e) {
  report_values all;
  for (const auto& [key, value] : e.members())
    all.emplace(key, value_in(value));
  return all;
}

json report_json(const materialized_report& r) {
  return {{"name", r.name},
          {"hparams", values_json(r.hparams)},
          {"attributes", values_json(r.attributes)},
          {"metrics", values_json(r.metrics)},
          {"included_in_final_ensemble", r.included}};
}

materialized_report report_in(const entry& e, int64_t iteration) {
  e.require_members({"name", "hparams", "attributes", "metrics", "included_in_final_ensemble"});
  return {iteration,
          e.at("name").text(),
          values_in(e.at("hparams")),
          values_in(e.at("attributes")),
          values_in(e.at("metrics")),
          e.at("included_in_final_ensemble").boolean()};
}

}  // namespace

json as_json(const search_reports& all) {
  json iterations = json::array();
  for (const auto& reports : all) {
    json list = json::array();
    for (const auto& r : reports)
      list.push_back(report_json(r));
    iterations.push_back({{"iteration_number", iterations.size()}, {"subnetwork_reports", std::move(list)}});
  }
  return iterations;
}

search_reports reports_in(const entry& e) {
  search_reports all;
  for (const auto& iteration : e.elements()) {
    iteration.require_members({"iteration_number", "subnetwork_reports"});
    static_cast<void>(iteration.at("iteration_number").count());
    std::vector<materialized_report> reports;
    for (const auto& r : iteration.at("subnetwork_reports").elements())
      reports.push_back(report_in(r, static_cast<int64_t>(all.size())));
    all.push_back(std::move(reports));
  }
  return all;
}

}  // namespace troupe::search_json
