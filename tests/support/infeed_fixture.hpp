// An infeed over the fake source, whose neighbours are recorders.
#pragma once

#include "actors/steps/infeed.hpp"
#include "support/fake_source.hpp"
#include "support/simulation.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

using steps = std::vector<int64_t>;

struct infeed_alone : simulation {
  std::shared_ptr<fake_source> source = std::make_shared<fake_source>();
  infeed_options options{.id = 3_node, .open = opener(source), .edges = {{.id = 0_edge}}};
  recorder<block, end_of_data> sink = record<block, end_of_data>();
  recorder<snapshot_part, gone> writer = record<snapshot_part, gone>();
  recorder<input_failed, input_warned> chief = record<input_failed, input_warned>();
  infeed_actor feed;

  void start() {
    feed = spawn(infeed, options, chief.as<input_listener_actor>());
    tell(feed, connect_parts{writer.as<part_sink_actor>()});
    tell(feed, connect_reader{0_edge, sink.as<block_sink_actor>()});
  }
  void start_at(int64_t step) {
    start();
    tell(feed, begin{1, step, {}});
  }
  void grant(int64_t until, std::vector<mark> marks = {}) { tell(feed, troupe::run{1, until, std::move(marks)}); }
  void credit(int64_t until_step, int64_t block_steps = 1, int64_t applied = 0) {
    tell(feed, pull{1, 0_edge, until_step, applied, block_steps});
  }
  /// The first step and the number of batches of every block.
  std::vector<std::pair<int64_t, int64_t>> blocks() {
    std::vector<std::pair<int64_t, int64_t>> all;
    for (const auto& b : sink.all<block>())
      all.emplace_back(b.step, b.count);
    return all;
  }
  steps parts() {
    steps all;
    for (const auto& p : writer.all<snapshot_part>())
      all.push_back(p.step);
    return all;
  }
  /// The number of the batch that an iterator reads first after it is restored from `part`.
  int64_t next_after(const snapshot_part& part) {
    fake_iterator again{source};
    REQUIRE(again.restore(part.blobs.at("infeed/0")));
    std::vector<float> x(static_cast<size_t>(source->rows));
    std::vector<int32_t> y(2 * x.size());
    std::byte* into[] = {reinterpret_cast<std::byte*>(x.data()), reinterpret_cast<std::byte*>(y.data())};
    REQUIRE(again.read(into, {}));
    return static_cast<int64_t>(x[0]) / 100;
  }
};

constexpr auto s = mark_snapshot;

}  // namespace troupe::test
