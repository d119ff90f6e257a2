#include "actors/predictor.hpp"

#include "storage/files/memory_file_system.hpp"
#include "support/recorded_nodes.hpp"
#include "tests/support/has.hpp"

#include <troupe/graph.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

struct board_of_records final : prediction_board {
  std::vector<loaded_state> loads;
  std::vector<int64_t> batches;
  std::vector<std::optional<error>> ends;
  void loaded(loaded_state from) override { loads.push_back(std::move(from)); }
  void batch(step_values values) override { batches.push_back(values.step); }
  void ended(std::optional<error> cause) override { ends.push_back(std::move(cause)); }
};

struct predictor_alone : simulation {
  std::shared_ptr<recorded_nodes> nodes = std::make_shared<recorded_nodes>(*this, role::predictor);
  std::shared_ptr<board_of_records> board = std::make_shared<board_of_records>();
  std::shared_ptr<memory_disk> disk = memory_disk::make();
  std::shared_ptr<parameter_store> parameters;
  predictor_options options;
  predictor_actor seer;

  predictor_alone() {
    graph g;
    g.variable({.name = "v", .dims = {2}, .initial = init::ones()});
    parameters = *parameter_store::create(*parameter_layout::of(g, std::nullopt), 1);
    options = {.nodes = nodes->driven, .board = board, .files = disk, .parameters = parameters};
  }
  void start() { seer = spawn(predictor, options); }
  void ask(int64_t until) { tell(seer, pull{.until_step = until}); }
  void batches(int64_t first, int64_t count) {
    progress p{1, first + count};
    for (int64_t i = first; i < first + count; ++i)
      p.watched.push_back({i, {tensor::scalar(1.0f)}});
    tell(seer, p);
  }
  bool gone() const { return seer->getf(caf::abstract_actor::is_terminated_flag); }
};

}  // namespace

TEST_CASE_FIXTURE(predictor_alone, "[EST-36] nothing is loaded or started before a batch is asked for") {
  options.directory = "/m";
  options.which = {3};  // There is no checkpoint of step 3.
  start();
  run();
  CHECK(nodes->sources.empty());
  CHECK(board->ends.empty());
  ask(1);
  REQUIRE(board->ends.size() == 1);
  CHECK(board->ends[0]->category == errc::not_found);
  CHECK(board->ends[0]->source == "predictor");
  CHECK(nodes->sources.empty());
  CHECK(gone());
}

TEST_CASE_FIXTURE(predictor_alone, "the horizon is what was asked for, and asking for less again changes nothing") {
  start();
  ask(2);
  REQUIRE(nodes->sources.size() == 1);
  CHECK(nodes->drains[0].order() == order_of<begin>());
  CHECK(nodes->workers[0].order() == order_of<connect_reports, connect_source, begin, troupe::run>());
  CHECK(nodes->sources[0].order() == order_of<connect_reader, begin, troupe::run>());
  CHECK(nodes->workers[0].last<troupe::run>().until == 2);
  ask(1);
  ask(2);
  CHECK(nodes->workers[0].count<troupe::run>() == 1);
  batches(0, 2);
  CHECK(board->batches == std::vector<int64_t>{0, 1});
  CHECK(nodes->workers[0].count<troupe::run>() == 1);
  ask(5);
  CHECK(nodes->sources.size() == 1);
  CHECK(nodes->sources[0].last<troupe::run>().until == 5);
  CHECK(board->loads.size() == 1);
  CHECK(board->loads[0].prefix.empty());
}

TEST_CASE_FIXTURE(
    predictor_alone,
    "the end of the data is an end without a cause, another end is one with it, and then the nodes end too") {
  start();
  ask(4);
  batches(0, 1);
  error cause{errc::out_of_range, "the data ended"};
  SUBCASE("data") {}
  SUBCASE("trouble") { cause = {errc::data_loss, "record 1 has a wrong checksum", {}, "predictor/infeed/0", 1}; }
  tell(seer, stream_end{1, {}, 1, cause, kind_of(cause)});
  REQUIRE(board->ends.size() == 1);
  CHECK(board->ends[0] == (cause.category == errc::out_of_range ? std::nullopt : std::optional{cause}));
  CHECK(gone());
  for (auto* all : {&nodes->sources, &nodes->workers, &nodes->drains})
    CHECK(all->at(0).handle()->getf(caf::abstract_actor::is_terminated_flag));
}

TEST_CASE_FIXTURE(
    predictor_alone,
    "a batch that was asked for and does not come ends with a deadline; a consumer that does not ask has none") {
  options.silence_max = std::chrono::seconds(10);
  start();
  ask(2);
  let_pass(std::chrono::seconds(8));
  batches(0, 1);
  let_pass(std::chrono::seconds(8));
  CHECK(board->ends.empty());
  SUBCASE("the consumer has all it asked for") {
    batches(1, 1);
    let_pass(std::chrono::minutes(10));
    CHECK(board->ends.empty());
    ask(3);
    let_pass(std::chrono::seconds(9));
    CHECK(board->ends.empty());
  }
  SUBCASE("the process is stopped for hours") {
    advance_time(std::chrono::hours(10));
    CHECK(board->ends.empty());
  }
  let_pass(std::chrono::seconds(13));
  REQUIRE(board->ends.size() == 1);
  CHECK(board->ends[0]->category == errc::deadline_exceeded);
  CHECK(has(board->ends[0]->message,
            "within 10 s: predictor/infeed/0 does not answer; predictor/replica/0 does not answer"));
}

TEST_CASE_FIXTURE(predictor_alone, "the death of a node is an end that says of what") {
  start();
  ask(2);
  caf::anon_send_exit(nodes->workers[0].handle(), caf::exit_reason::kill);
  run();
  REQUIRE(board->ends.size() == 1);
  CHECK(board->ends[0]->category == errc::aborted);
  CHECK(has(board->ends[0]->message, "it was killed"));
  CHECK(gone());
}

}  // namespace troupe::test
