// A replica over the toy engine, whose neighbours are recorders, and the state that it should reach.
#pragma once

#include "actors/steps/replica.hpp"
#include "support/simulation.hpp"
#include "support/toy_engine.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

using steps = std::vector<int64_t>;

/// The two rows of batch `step`.
inline std::vector<float> toy_batch(int64_t step) {
  return {static_cast<float>(step % 3), static_cast<float>(1 + step % 2)};
}

/// A block of toy batches for the replica whose rows begin at `first_row`.
inline block toy_block(int64_t first, int64_t count, int64_t first_row = 0, int64_t rows = 2, int32_t attempt = 1) {
  std::vector<float> x;
  for (int64_t s = first; s < first + count; ++s)
    for (float v : toy_batch(s))
      x.push_back(v);
  return {attempt, 0_edge, first, count, first_row, rows, {tensor::of<float>({2 * count}, std::span<const float>{x})}};
}

/// The state after `count` steps, computed by a plain loop.
inline std::vector<float> toy_state(int64_t count) {
  auto memory = std::make_shared<toy_memory>();
  toy_engine engine{memory};
  for (int64_t s = 0; s < count; ++s) {
    const auto x = toy_batch(s);
    const std::byte* feeds[] = {reinterpret_cast<const std::byte*>(x.data())};
    engine.gradients(s, {feeds, 2}, 0);
    engine.apply(s, engine.gradient(), 0, 0);
  }
  return {memory->arena[0].get(), memory->arena[0].get() + memory->width};
}

inline std::vector<float> values_of(const snapshot_part& part) {
  const auto v = part.pieces.at(0).elements.as<float>();
  return {v.begin(), v.end()};
}

struct replica_alone : simulation {
  std::shared_ptr<toy_memory> memory = std::make_shared<toy_memory>();
  std::shared_ptr<toy_engine> engine = std::make_shared<toy_engine>(memory);
  replica_options options{.in_edges = {{.id = 0_edge}}, .engine = engine};
  recorder<pull> source = record<pull>();
  recorder<step_report, stream_end, snapshot_part, gone> out = record<step_report, stream_end, snapshot_part, gone>();
  replica_actor worker;

  void start() {
    worker = spawn(replica, options);
    tell(worker, connect_reports{out.as<report_sink_actor>()});
    tell(worker, connect_parts{out.as<part_sink_actor>()});
    tell(worker, connect_source{0_edge, source.as<credit_source_actor>()});
    tell(worker, begin{1, 0, {}});
  }
  void grant(int64_t until, std::vector<mark> marks = {}) { tell(worker, troupe::run{1, until, std::move(marks)}); }
  void feed(int64_t first, int64_t count) { tell(worker, toy_block(first, count)); }
  void end_data(int64_t step, const error& cause = {errc::out_of_range, "the data ended", {}, "infeed/0"}) {
    tell(worker, end_of_data{1, 0_edge, step, cause, kind_of(cause)});
  }
  void release(int64_t step) { tell(worker, released{1, step}); }

  /// The first step and the number of steps of every report.
  std::vector<std::pair<int64_t, int64_t>> reports() {
    std::vector<std::pair<int64_t, int64_t>> all;
    for (const auto& r : out.all<step_report>())
      all.emplace_back(r.step, static_cast<int64_t>(r.losses.size()));
    return all;
  }
  steps parts() {
    steps all;
    for (const auto& p : out.all<snapshot_part>())
      all.push_back(p.step);
    return all;
  }
};

inline steps first_steps(int64_t count) {
  steps all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace troupe::test
