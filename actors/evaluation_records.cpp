#include "actors/evaluation_records.hpp"

#include "compute/engine/metric_summaries.hpp"
#include "storage/encodings/utf8.hpp"

namespace troupe {

std::vector<record> evaluation_records(const evaluated& x) {
  record metrics{.step = x.id.step, .values = summaries_of(x.metrics, x.arrays)};
  if (x.checkpoint.empty())
    return {std::move(metrics)};
  record of{.step = x.id.step,
            .values = {{.what = summary_value::kind::text, .tag = "checkpoint_path", .text = as_utf8(x.checkpoint)}}};
  return {std::move(metrics), std::move(of)};
}

}  // namespace troupe
