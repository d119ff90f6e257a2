#include "actors/evaluation_records.hpp"

#include "compute/engine/metric_summaries.hpp"
#include "ensemble/names.hpp"
#include "storage/encodings/utf8.hpp"

#include <map>

namespace troupe {

namespace {

bool is_of(const std::string& tag, const std::string& part) {
  return tag.size() > part.size() && tag[part.size()] == '/' && tag.starts_with(part);
}

/// Null if the tag is of no part. Names of parts may have '/', so the longest that fits counts.
const evaluated_part* part_of(const std::string& tag, const std::vector<evaluated_part>& parts) {
  const evaluated_part* found = nullptr;
  for (const auto& p : parts)
    if (is_of(tag, p.name) && (!found || p.name.size() > found->name.size()))
      found = &p;
  return found;
}

void add_architecture(const std::string& text, std::vector<summary_value>& to) {
  if (!text.empty())
    to.push_back({.what = summary_value::kind::text, .tag = std::string{architecture_tag}, .text = text});
}

}  // namespace

std::vector<record> evaluation_records(const evaluated& x, const std::vector<evaluated_part>& parts,
                                       const std::string& architecture) {
  record metrics{.step = x.id.step};
  std::map<const evaluated_part*, std::vector<summary_value>> of_parts;
  for (auto& value : summaries_of(x.metrics, x.arrays)) {
    const auto* part = part_of(value.tag, parts);
    if (part)
      value.tag.erase(0, part->name.size() + 1);
    (part ? of_parts[part] : metrics.values).push_back(std::move(value));
  }
  add_architecture(architecture, metrics.values);
  for (const auto& part : parts)
    if (const auto found = of_parts.find(&part); found != of_parts.end()) {
      add_architecture(part.architecture, found->second);
      metrics.elsewhere.push_back({part.directory, std::move(found->second)});
    }
  if (x.checkpoint.empty())
    return {std::move(metrics)};
  record of{.step = x.id.step,
            .values = {{.what = summary_value::kind::text, .tag = "checkpoint_path", .text = as_utf8(x.checkpoint)}}};
  return {std::move(metrics), std::move(of)};
}

}  // namespace troupe
