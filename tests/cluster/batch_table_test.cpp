#include "cluster/batch_table.hpp"

#include "support/has.hpp"

#include <doctest/doctest.h>

#include <array>
#include <map>

namespace troupe::test {

namespace {

using enum input_mode;

topology cores(int64_t hosts, int64_t cores_per_host, int64_t cores_per_replica = 1) {
  const auto t = make_topology(
      {.hosts = hosts, .cores_per_host = cores_per_host, .cores_per_replica = cores_per_replica});
  REQUIRE(t);
  return *t;
}

const topology two_hosts_of_eight{.hosts = 2, .cores_per_host = 8, .replicas = 16};

batch_sizes sizes_of(mode m, input_mode i, int64_t batch = 64) {
  const auto s = sizes(two_hosts_of_eight, {.mode = m, .input_mode = i, .batch = batch});
  REQUIRE_MESSAGE(s, (s ? "" : s.error().message));
  return *s;
}

error refusal(const topology& t, const input_request& r) {
  const auto sound = validate(t, r);
  REQUIRE_FALSE(sound);
  CHECK(sizes(t, r).error() == sound.error());
  CHECK(sound.error().category == errc::invalid_argument);
  return sound.error();
}

constexpr std::array all_input_modes{per_core, per_host, per_replica, broadcast, sliced};

}  // namespace

TEST_CASE("[DF-3] no batch, a batch of no row, and an input for each core where replicas have several cores") {
  const auto t = cores(2, 8);
  CHECK(refusal(t, {.mode = mode::train}).message
        == "train: replicas need the size of the batch that they share, and none is given");
  CHECK(refusal(t, {.mode = mode::evaluate, .input_mode = broadcast, .batch = 0}).message
        == "evaluate: the batch must have at least 1 row, not 0");
  CHECK(refusal(cores(2, 8, 2), {.input_mode = per_core, .batch = 64}).message
        == "train: input mode per_core is for replicas of one core, not of 2: use per_replica");
}

TEST_CASE(
    "[DF-5] replica 9 of 16 on two hosts is the second one of host 1; a replica over both hosts needs per_replica") {
  CHECK(place_of(cores(2, 8), 9) == replica_place{1, 1});
  const auto spanning = cores(2, 8, 16);
  CHECK(refusal(spanning, {.input_mode = per_host, .batch = 64}).message
        == "train: input mode per_host cannot feed replicas of 16 cores on hosts of 8: use per_replica");
  const input_request whole{.input_mode = per_replica, .batch = 64};
  CHECK(spanning.replicas == 1);
  CHECK(spanning.replicas_per_host() == 0);
  CHECK(sizes(spanning, whole) == batch_sizes{1, 64, 1, 64});
  CHECK(deployments(spanning, whole) == std::vector<deployment>{{0, 0, 1, 1}});
  CHECK(feed_of(spanning, whole, 0) == feed{0, 0, 0, 64});
}

TEST_CASE("[DF-8] where each input is read and how many replicas it feeds, for 16 cores on 2 hosts") {
  const auto at = [](input_mode m) { return deployments(two_hosts_of_eight, {.input_mode = m, .batch = 64}); };
  const auto by_core = at(per_core);
  REQUIRE(by_core.size() == 16);
  for (int64_t host = 0; host < 2; ++host)
    for (int64_t core = 0; core < 8; ++core)
      CHECK(by_core[static_cast<size_t>(host * 8 + core)] == deployment{host, host * 8 + core, 16, 1});
  const std::vector<deployment> by_host{{0, 0, 2, 8}, {1, 1, 2, 8}};
  CHECK(at(per_host) == by_host);
  CHECK(at(per_replica) == by_host);
  CHECK(at(broadcast) == std::vector<deployment>{{0, 0, 1, 16}});
  CHECK(at(sliced) == std::vector<deployment>{{0, 0, 1, 16}});
}

TEST_CASE("replicas over several hosts have an input each, at the host of their first core") {
  const auto t = cores(4, 8, 16);
  const input_request r{.input_mode = per_replica, .batch = 64};
  CHECK(deployments(t, r) == std::vector<deployment>{{0, 0, 2, 1}, {2, 1, 2, 1}});
  CHECK(sizes(t, r) == batch_sizes{2, 32, 1, 32});
}

TEST_CASE("[DF-9] the rows of an input's batch, the inputs, their batches a step and the rows of a replica") {
  CHECK(sizes_of(mode::train, per_core) == batch_sizes{16, 4, 1, 4});
  CHECK(sizes_of(mode::train, per_host) == batch_sizes{2, 32, 1, 4});
  CHECK(sizes_of(mode::train, per_replica) == batch_sizes{2, 4, 8, 4});
  CHECK(sizes_of(mode::train, broadcast) == batch_sizes{1, 64, 1, 64});
  for (const auto m : {mode::train, mode::evaluate, mode::predict})
    CHECK(sizes(two_hosts_of_eight, {.mode = m, .batch = 64, .on_replicas = false}) == batch_sizes{1, 64, 1, 64});
  CHECK(sizes_of(mode::evaluate, sliced) == batch_sizes{1, 64, 1, 4});
}

TEST_CASE("an input for each core is one for each host in evaluation and prediction") {
  const auto one_host = cores(1, 16);
  CHECK(sizes(one_host, {.mode = mode::evaluate, .input_mode = per_core, .batch = 64}) == batch_sizes{1, 64, 1, 4});
  CHECK(sizes_of(mode::predict, per_core) == batch_sizes{2, 32, 1, 4});
}

TEST_CASE("[DF-10] what does not divide, and evaluations and predictions on two hosts") {
  const auto t = cores(2, 8);
  for (const auto m : {mode::train, mode::evaluate, mode::predict})
    for (const auto i : all_input_modes)
      if (i != broadcast) {
        const auto e = refusal(t, {.mode = m, .input_mode = i, .batch = 60});
        CHECK(e.message
              == std::string{to_string(m)}
                     + ": a batch of 60 rows cannot be divided evenly among 16 replicas: use a multiple of them, or "
                       "broadcast");
      }
  for (const auto m : {mode::train, mode::evaluate, mode::predict})
    CHECK(sizes(t, {.mode = m, .input_mode = broadcast, .batch = 60}) == batch_sizes{1, 60, 1, 60});
  CHECK(refusal(t, {.mode = mode::evaluate, .input_mode = per_host, .batch = 64}).message
        == "evaluate: input mode per_host would read the data on each of 2 hosts: use broadcast or sliced, or "
           "per_replica where hosts read different data");
  CHECK(refusal(t, {.mode = mode::evaluate, .input_mode = per_core, .batch = 64}).category == errc::invalid_argument);
  const input_request evaluation{.mode = mode::evaluate, .input_mode = per_replica, .batch = 64};
  CHECK(validate(t, evaluation));
  CHECK(warnings_of(t, evaluation)
        == std::vector<std::string>{
            "evaluate: each of 2 hosts has an input of its own; a row that two of them read counts twice"});
  CHECK(warnings_of(cores(1, 8), evaluation).empty());
  for (const auto i : all_input_modes) {
    const input_request prediction{.mode = mode::predict, .input_mode = i, .batch = 64};
    CHECK(validate(t, prediction));
    CHECK(warnings_of(t, prediction).empty());
  }
}

TEST_CASE(
    "[DF-11] an evaluation by replicas needs the size of a batch, one by a single core takes batches as they are") {
  const auto t = cores(2, 8);
  CHECK(refusal(t, {.mode = mode::evaluate, .input_mode = broadcast}).message
        == "evaluate: replicas need the size of the batch that they share, and none is given");
  const input_request alone{.mode = mode::evaluate, .on_replicas = false};
  CHECK(sizes(t, alone) == batch_sizes{1, {}, 1, {}});
  CHECK(deployments(t, alone) == std::vector<deployment>{{0, 0, 1, 1}});
  CHECK(has(refusal(t, {.mode = mode::evaluate, .input_mode = sliced, .on_replicas = false}).message, "sliced"));
}

TEST_CASE("every row of every batch goes to one replica, or in broadcast to all of them") {
  for (const auto& t : {cores(2, 8), cores(1, 4), cores(3, 2), cores(2, 8, 4)})
    for (const auto m : {mode::train, mode::evaluate, mode::predict})
      for (const auto i : all_input_modes) {
        const input_request r{.mode = m, .input_mode = i, .batch = t.replicas * 3};
        const auto s = sizes(t, r);
        if (!s)
          continue;
        CAPTURE(to_string(m));
        CAPTURE(to_string(i));
        const auto all = deployments(t, r);
        REQUIRE(static_cast<int64_t>(all.size()) == s->inputs);
        std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> readers;
        std::map<int64_t, int64_t> fed;
        for (int64_t replica = 0; replica < t.replicas; ++replica) {
          const auto f = feed_of(t, r, replica);
          CHECK(f.rows == s->replica_rows);
          ++fed[f.input];
          for (int64_t row = f.first_row; row < f.first_row + f.rows; ++row)
            ++readers[{f.input, f.batch, row}];
          const auto host = all.at(static_cast<size_t>(f.input)).host;
          CHECK((s->inputs == 1 || host == place_of(t, replica).host));
        }
        CHECK(static_cast<int64_t>(readers.size()) == s->inputs * s->batches_per_step * *s->input_rows);
        for (const auto& [row, count] : readers) {
          CHECK(count == (i == broadcast ? t.replicas : 1));
          CHECK(std::get<1>(row) < s->batches_per_step);
          CHECK(std::get<2>(row) < *s->input_rows);
        }
        for (const auto& d : all)
          CHECK(fed[d.index] == d.replicas);
      }
}

TEST_CASE("[DF-34] the rows of all inputs at 10 steps per second: 320 examples of batches of 32") {
  const auto t = cores(2, 2);
  for (const auto i : all_input_modes)
    CHECK(examples_per_sec(*sizes(t, {.input_mode = i, .batch = 32}), 10) == 320);
  CHECK_FALSE(examples_per_sec(*sizes(t, {.on_replicas = false}), 10));
}

}  // namespace troupe::test
