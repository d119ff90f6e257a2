// A checkpoint writer over a disk in memory, whose neighbours are recorders.
#pragma once

#include "actors/writers/checkpoint_loading.hpp"
#include "actors/writers/checkpoint_writer.hpp"
#include "compute/parameters/assign_range.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "storage/files/memory_file_system.hpp"
#include "support/simulation.hpp"
#include "tests/support/checkpoint_ids.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace troupe::test {

using steps = std::vector<int64_t>;

inline std::shared_ptr<parameter_store> model_store(int64_t width = 4, bool bias = true) {
  graph g;
  g.variable({.name = "dense/kernel", .dims = {width, 2}, .initial = init::ones()});
  if (bias)
    g.variable({.name = "dense/bias", .dims = {2}});
  auto layout = parameter_layout::of(g, momentum{});
  REQUIRE(layout);
  return *parameter_store::create(*layout, 2);
}

inline group_layout layout_of(const std::shared_ptr<parameter_store>& store, group_id group = {}) {
  return {group, {store, &store->layout()}};
}
inline stored_group stored_of(const std::shared_ptr<parameter_store>& store, group_id group = {}) {
  return stored_of(store->layout(), group);
}

struct writer_alone : simulation {
  std::shared_ptr<memory_disk> disk = memory_disk::make();
  std::shared_ptr<faulty_file_system> files = faulty_file_system::around(disk);
  std::shared_ptr<parameter_store> parameters = model_store();
  checkpoint_writer_options options{.files = files, .directory = "/m", .properties = {{"numerics_version", "1"}}};
  stored_plan stored{.parts = {{0_node, "chief"}, {1_node, "infeed/0"}, {2_node, "replica/0"}},
                     .groups = {stored_of(parameters)}};
  using chief_recorder = recorder<restored, failure, committed, late_properties_kept, state_shown, save_failed>;
  chief_recorder chief = record<restored, failure, committed, late_properties_kept, state_shown, save_failed>();
  recorder<released> lender = record<released>();
  checkpoint_writer_actor writer;
  std::vector<state_part> parts_taken;  ///< The parts that the owner of the store received.
  state_owner_actor owner = spawn([this](state_owner_actor::pointer self) -> state_owner_actor::behavior_type {
    return {[this, self](const state_part& x) {
      parts_taken.push_back(x);
      if (x.initial)
        parameters->initialise(x.seed);
      for (const auto& piece : x.pieces)
        CHECK(assign_range(*parameters, piece.name, piece.first, piece.elements));
      self->send(caf::actor_cast<state_source_actor>(self->current_sender()), state_taken{x.attempt, x.number});
    }};
  });

  void start(bool load = true) {
    writer = spawn(checkpoint_writer, options, chief.as<commit_sink_actor>());
    if (load)
      tell(writer, restore{1, {{{}, owner}}, stored});
    else
      tell(writer, stand_in{1, stored});
  }
  /// The snapshot part of replica `r` of `replicas`; it refers to the memory of the store.
  snapshot_part replica_part(int64_t step, int r = 0, int replicas = 1) {
    snapshot_part part{1, step, node_id{2 + r}};
    for (const auto& piece : parameters->layout().pieces(r, replicas)) {
      const auto& e = parameters->layout().entries()[static_cast<size_t>(piece.entry)];
      part.pieces.push_back({e.name,
                             {e.dims.extents().begin(), e.dims.extents().end()},
                             piece.first,
                             e.trainable,
                             parameters->view(0, piece)});
    }
    return part;
  }
  snapshot_part infeed_part(int64_t step) {
    return {1, step, 1_node, {}, {{"infeed/0", "batch " + std::to_string(step)}}, {}};
  }
  snapshot_part chief_part(int64_t step) { return {1, step, 0_node, {}, {}, {{"finished", "false"}}}; }
  void lend(int64_t step) { tell_as(lender.handle(), writer, replica_part(step)); }
  void save(int64_t step) {
    tell(writer, chief_part(step));
    tell(writer, infeed_part(step));
    lend(step);
  }
  std::vector<checkpoint_id> listed() {
    auto store = checkpoint_store::open(disk, "/m", {.read_only = true});
    REQUIRE(store);
    return (*store)->listed();
  }
  /// Fills every entry with distinct numbers.
  void scribble(float seed) {
    for (const auto& e : parameters->layout().entries()) {
      std::vector<float> v(static_cast<size_t>(e.dims.elements()));
      for (float& x : v)
        x = seed += 0.5f;
      REQUIRE(parameters->assign(e.name, tensor::of<float>(e.dims, std::span<const float>{v})));
    }
  }
  std::vector<tensor> all_values() {
    std::vector<tensor> all;
    for (size_t i = 0; i < parameters->layout().entries().size(); ++i) {
      const auto v = parameters->view(0, static_cast<int32_t>(i));
      all.push_back(tensor::copy_of(v.type(), v.dims(), v.bytes()));
    }
    return all;
  }
};

}  // namespace troupe::test
