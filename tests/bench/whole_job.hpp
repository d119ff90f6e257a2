// Training jobs of the measured models, on made-up data.
#pragma once

#include "pipeline/launch/launcher.hpp"
#include "tests/bench/our_step.hpp"

namespace troupe::bench {

/// Batches of made-up numbers, as examples of one dataset.
inline dataset examples_of(const measured_model& m) {
  const auto rows = static_cast<int64_t>(batches::count) * m.batch;
  const std::vector<component> inputs{m.x, m.y};
  const batches d{inputs, rows, m.classes};
  const auto whole = [&](size_t which) {
    std::vector<int64_t> extents{rows};
    for (const int64_t n : inputs[which].dims.extents())
      extents.push_back(n);
    const shape dims{std::span<const int64_t>{extents}};
    return tensor::copy_of(inputs[which].type, dims,
                           {d.of_step(0)[which], static_cast<size_t>(dims.elements() * size_of(inputs[which].type))});
  };
  return must(dataset::from_tensors({{"x", whole(0)}}, {{"y", whole(1)}}));
}

inline model measured(const measured_model& m) {
  return {"measured",
          [m](graph& g, const features& f, const labels& l, mode) { return m.of(g, f["x"], l["y"], adam{}); }};
}

/// A job in which each replica gets `m.batch` rows a step.
inline training_job whole_job(const measured_model& m, run_config config = {}) {
  const int64_t shares = config.input_mode == input_mode::per_core ? 1 : config.replicas;
  job_basis basis{.source = std::make_shared<const model>(measured(m)), .config = must(resolve_config(config))};
  basis.processors = local_launcher{}.processors();
  return {.basis = std::move(basis), .input = examples_of(m).batch(m.batch * shares).repeat()};
}

}  // namespace troupe::bench
