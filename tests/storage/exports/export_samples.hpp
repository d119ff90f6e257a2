// Sample exports.
#pragma once

#include "storage/exports/export_content.hpp"

#include <limits>

namespace troupe {

/// An export with every kind of attribute, dtype and number. All parts that can differ depend on `step`.
inline export_content sample_export(int64_t step) {
  const auto batch = extent::of_unknown(0), twice = extent::of_unknown(0, 2);
  export_content c;
  c.origin = {"sample",
              step,
              "/m/model.ckpt-" + std::to_string(step),
              {{"loss", 0.25}, {"worst", std::numeric_limits<double>::infinity()}}};
  c.graph.unknowns = {"batch"};
  c.graph.nodes = {
      {"x", "placeholder", {}, dtype::float32, {batch, extent{2}}, {}},
      {"w", "variable", {}, dtype::float32, {extent{2}, extent{3}}, {{"trainable", true}}},
      {"pad",
       "any",
       {0, 1},
       dtype::int64,
       {twice},
       {{"number", 0.5},
        {"count", int64_t{-3}},
        {"key", std::string{"a\"b"}},
        {"axes", std::vector<int64_t>{0, 2}},
        {"none", std::vector<int64_t>{}},
        {"per", symbol_shape{batch, extent{4}}}}},
  };
  c.tensors = {{"w", tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, static_cast<float>(step)})},
               {"constants/0", tensor::of<double>({2}, {1, 2})},
               {"flags", tensor::of<bool>({3}, {true, false, true})}};
  c.signatures = {
      {"serving_default", {{{"x", {0, dtype::float32, {batch, extent{2}}}}}, {{"y", {2, dtype::int64, {twice}}}}}}};
  c.preparation = {{{"label", {"coat", "bag"}}}, {{"classes", {"class", {"coat", "bag"}}}}};
  return c;
}

inline bool same(const export_content& a, const export_content& b) {
  return a.origin == b.origin && a.graph == b.graph && a.tensors == b.tensors && a.signatures == b.signatures
         && a.preparation == b.preparation;
}

}  // namespace troupe
