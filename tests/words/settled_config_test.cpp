#include "words/settled_config.hpp"

#include <doctest/doctest.h>

namespace troupe {

namespace {

settled_config settled(const run_config& c) {
  const auto s = resolve_config(c);
  REQUIRE_MESSAGE(s, (s ? "" : s.error().message));
  return *s;
}

}  // namespace

TEST_CASE("without a model directory nothing is saved or summarised, whatever the other fields say") {
  CHECK(settled({}) == settled_config{.log_steps = 100});
  CHECK_FALSE(settled({.save_checkpoints_steps = 5}).saves());
  CHECK(settled({.save_summary_steps = 7}).summary_steps == 0);
  CHECK_FALSE(settled({.save_summary_secs = 7}).records());
}

TEST_CASE(
    "a settled configuration has one trigger of saves, that of the defaults where none was mentioned, and none where "
    "they are off") {
  CHECK(settled({.model_dir = "m"}).save_secs == 600);
  CHECK_FALSE(settled({.model_dir = "m"}).save_steps);
  CHECK(settled({.model_dir = "m", .save_checkpoints_steps = 5}).save_steps == 5);
  CHECK_FALSE(settled({.model_dir = "m", .save_checkpoints_steps = 5}).save_secs);
  CHECK_FALSE(settled({.model_dir = "m", .save_checkpoints_steps = std::nullopt}).saves());
  CHECK_FALSE(settled({.model_dir = "m", .save_checkpoints_secs = 0}).saves());
}

TEST_CASE("summaries by seconds take the place of those by steps") {
  const auto by_time = settled({.model_dir = "m", .save_summary_secs = 7.5});
  CHECK(by_time.summary_secs == 7.5);
  CHECK(by_time.summary_steps == 0);
  CHECK(by_time.records());
  CHECK_FALSE(settled({.model_dir = "m"}).summary_secs);
  CHECK(resolve_config({.save_summary_secs = 0}).error().message == "save_summary_secs must be above 0, not 0");
}

TEST_CASE("gradient shards are as many as replicas unless given, and no number is taken for another one") {
  CHECK(settled({.replicas = 4}).gradient_shards == 4);
  CHECK(settled({.gradient_shards = 8, .replicas = 4}).gradient_shards == 8);
  CHECK(settled({.gradient_shards = 1 << 20, .replicas = 1024, .intra_op_threads = 1024}).replicas == 1024);
  CHECK(settled({.keep_checkpoint_max = 4294967297}).keep_checkpoint_max == INT32_MAX);
  CHECK(resolve_config({.replicas = 4294967297}).error().message == "replicas must be in [1, 1024], not 4294967297");
  CHECK(resolve_config({.intra_op_threads = 4294967297}).error().message
        == "intra_op_threads must be in [0, 1024], not 4294967297");
  CHECK(resolve_config({.gradient_shards = 4294967296}).error().message
        == "gradient_shards must be in [1, 1048576], not 4294967296");
}

TEST_CASE("[EST-51] keep_checkpoint_max of none is that of 0, which keeps all checkpoints") {
  CHECK(settled({.keep_checkpoint_max = std::nullopt}).keep_checkpoint_max == 0);
  CHECK(settled({.keep_checkpoint_max = 0}).keep_checkpoint_max == 0);
}

TEST_CASE("what is off is 0, and a seed that nobody gave is 0") {
  const auto off = settled({.model_dir = "m", .save_summary_steps = 0, .log_step_count_steps = std::nullopt});
  CHECK(off.summary_steps == 0);
  CHECK(off.log_steps == 0);
  CHECK(off.seed == 0);
  CHECK(settled({.seed = 18446744073709551615u}).seed == UINT64_MAX);
  CHECK(settled({.steps_per_loop = 3}).loop == loop_length{int64_t{3}});
  CHECK_FALSE(settled({.replicas = 2}).pin_replicas);
  CHECK(settled({.replicas = 2, .pin_replicas = true}).pin_replicas);
}

}  // namespace troupe
