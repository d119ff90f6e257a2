#include "actors/evaluator.hpp"

#include "actors/writers/checkpoint_loading.hpp"
#include "storage/files/memory_file_system.hpp"
#include "support/recorded_nodes.hpp"
#include "tests/support/checkpoint_ids.hpp"

#include <troupe/graph.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

struct evaluator_alone : simulation {
  std::shared_ptr<recorded_nodes> nodes = std::make_shared<recorded_nodes>(*this);
  std::shared_ptr<memory_disk> disk = memory_disk::make();
  std::shared_ptr<parameter_store> parameters;
  recorder<batches_evaluated, evaluated, exported> asker = record<batches_evaluated, evaluated, exported>();
  evaluator_options options;
  evaluator_actor judge;

  evaluator_alone() {
    graph g;
    g.variable({.name = "v", .dims = {2}, .initial = init::ones()});
    parameters = *parameter_store::create(*parameter_layout::of(g, std::nullopt), 1);
    options = {.nodes = nodes->driven,
               .files = disk,
               .parameters = parameters,
               .outputs = {{},
                           {program_output::kind::metric_sum, "accuracy"},
                           {program_output::kind::metric_sum, "accuracy", 0, 1}},
               .metrics = functions_of({{"accuracy", ratio_metric{}}})};
  }
  void start() { judge = spawn(evaluator, options, asker.as<evaluation_sink_actor>()); }
  void evaluate(int64_t step = -1) { tell(judge, evaluate_at{1, {step}, ""}); }
  /// Reports the batches [first, first + losses.size()) of an attempt of the sub-plan as evaluated. In each batch two
  /// of four rows were right.
  void batches(int32_t attempt, int64_t first, std::vector<float> losses) {
    progress p{attempt, first + static_cast<int64_t>(losses.size())};
    for (float loss : losses)
      p.watched.push_back({first++, {tensor::scalar(loss), tensor::scalar(2.0f), tensor::scalar(4.0f)}});
    tell(judge, p);
  }
  void end(int32_t attempt, int64_t step, const error& cause = {errc::out_of_range, "the data ended"}) {
    tell(judge, stream_end{attempt, {}, step, cause, kind_of(cause)});
  }
  /// The replica stops as it was told to.
  void halts(int32_t attempt) {
    REQUIRE(nodes->workers.back().count<halt>() > 0);
    CHECK(nodes->workers.back().last<halt>().attempt == attempt);
    CHECK_MESSAGE(asker.count<evaluated>() == 0, "it may still read the variables");
    tell(judge, halted{attempt, 1_node});
  }
  void commit(int64_t step, float value, int64_t iteration = 0) {
    auto store = checkpoint_store::open(disk, "/m");
    REQUIRE(store);
    REQUIRE((*store)->commit({{step, iteration},
                              {{"v", tensor::of<float>({2}, {value, value})},
                               {"v/Momentum", tensor::of<float>({2}, {0, 0})},
                               {"global_step", tensor::scalar<int64_t>(step)}},
                              {},
                              {}}));
  }
};

struct evaluator_beside_retention : evaluator_alone {
  std::unique_ptr<checkpoint_store> store = *checkpoint_store::open(disk, "/m", {.keep_checkpoint_max = 1});

  evaluator_beside_retention() {
    options.directory = "/m";
    save(7);
  }
  /// Commits a checkpoint, and returns those that were deleted for it.
  std::vector<checkpoint_id> save(int64_t step) {
    return store
        ->commit({{step}, {{"v", tensor::of<float>({2}, {1, 1})}, {"global_step", tensor::scalar<int64_t>(step)}}})
        ->deleted;
  }
};

}  // namespace

TEST_CASE_FIXTURE(evaluator_alone, "an evaluation connects its nodes, begins them and grants what it wants") {
  options.steps = 3;
  start();
  evaluate();
  REQUIRE(nodes->sources.size() == 1);
  CHECK(nodes->drains[0].order() == order_of<begin>());
  CHECK(nodes->workers[0].order() == order_of<connect_reports, connect_source, begin, troupe::run>());
  CHECK(nodes->sources[0].order() == order_of<connect_reader, begin, troupe::run>());
  CHECK(nodes->sources[0].last<connect_reader>().reader == nodes->workers[0].as<block_sink_actor>());
  CHECK(nodes->workers[0].last<connect_source>().source == nodes->sources[0].as<credit_source_actor>());
  CHECK(nodes->workers[0].last<connect_source>().edge == 4_edge);
  CHECK(nodes->workers[0].last<troupe::run>().until == 3);
  CHECK(asker.count<evaluated>() == 0);
}

TEST_CASE_FIXTURE(
    evaluator_alone,
    "[DF-45] the loss is the mean over batches, metrics are ratios of sums, and the step is the checkpoint's") {
  options.steps = 3;
  options.directory = "/m";
  commit(7, 5);
  commit(9, 6);
  start();
  evaluate(7);
  CHECK(parameters->view(0, 0) == tensor::of<float>({2}, {5, 5}));
  batches(1, 0, {1, 2});
  CHECK(asker.count<evaluated>() == 0);
  batches(1, 2, {6});
  REQUIRE(asker.count<evaluated>() == 1);
  const auto& e = asker.last<evaluated>();
  CHECK(e.ok);
  CHECK(e.attempt == 1);
  CHECK(e.id.step == 7);
  CHECK(e.batches == 3);
  CHECK(e.metrics == std::map<std::string, double>{{"loss", 3}, {"accuracy", 0.5}, {"global_step", 7}});
  SUBCASE("the next one uses the same nodes, and counts anew") {
    evaluate(-1);
    CHECK(nodes->sources.size() == 1);
    CHECK(nodes->workers[0].last<begin>().attempt == 2);
    batches(1, 3, {100});
    batches(2, 0, {4, 4, 4});
    CHECK(asker.last<evaluated>().id.step == 9);
    CHECK(asker.last<evaluated>().metrics.at("loss") == 4);
  }
}

TEST_CASE_FIXTURE(evaluator_alone, "an evaluator tells its driver how far it is, at most ten times a second") {
  start();
  evaluate();
  batches(1, 0, {1, 2});
  CHECK(asker.count<batches_evaluated>() == 0);
  let_pass(std::chrono::milliseconds(100));
  batches(1, 2, {3});
  REQUIRE(asker.count<batches_evaluated>() == 1);
  CHECK(asker.last<batches_evaluated>().batches == 3);
  CHECK(asker.last<batches_evaluated>().attempt == 1);
  let_pass(std::chrono::milliseconds(99));
  batches(1, 3, {4});
  CHECK(asker.count<batches_evaluated>() == 1);
  let_pass(std::chrono::milliseconds(1));
  batches(1, 4, {4});
  CHECK(asker.count<batches_evaluated>() == 2);
}

TEST_CASE_FIXTURE(evaluator_beside_retention,
                  "[EST-86] a checkpoint under evaluation is not deleted, and goes after the result") {
  options.steps = 2;
  start();
  evaluate(7);
  CHECK(save(8).empty());
  batches(1, 0, {1});
  CHECK(save(9) == ids({8}));
  CHECK(disk->info("/m/model.ckpt-7.manifest.json"));
  batches(1, 1, {1});
  REQUIRE(asker.count<evaluated>() == 1);
  CHECK(save(10) == ids({7, 9}));
}

TEST_CASE_FIXTURE(evaluator_beside_retention,
                  "a checkpoint that exporters still want is not deleted before they are done") {
  options.steps = 1;
  bool there = false;
  options.exports = [&](const export_surroundings& in, const export_occasion&) {
    there = in.files->info("/m/model.ckpt-7.manifest.json").has_value();
    return std::vector<std::string>{"/m/export/1"};
  };
  start();
  evaluate(7);
  batches(1, 0, {1});
  REQUIRE(asker.count<evaluated>() == 1);
  CHECK(save(8).empty());  // No other lease protects it, as if the checkpoint writer had died.
  tell(judge, export_at{1, {7}, "/m/model.ckpt-7"});
  REQUIRE(asker.count<exported>() == 1);
  CHECK(there);
  CHECK(save(9) == ids({7, 8}));
}

TEST_CASE_FIXTURE(evaluator_alone, "data that end before the wanted number of batches end the evaluation well") {
  options.steps = 100;
  start();
  evaluate();
  batches(1, 0, {1, 3});
  end(1, 2);
  REQUIRE(asker.count<evaluated>() == 1);
  CHECK(asker.last<evaluated>().ok);
  CHECK(asker.last<evaluated>().batches == 2);
  CHECK(asker.last<evaluated>().metrics.at("loss") == 2);
}

TEST_CASE_FIXTURE(evaluator_alone, "data without a bound are granted piece by piece") {
  start();
  evaluate();
  const auto first = nodes->sources[0].last<troupe::run>().until;
  CHECK(first < 1'000'000);
  batches(1, first - 1, {1});
  CHECK(nodes->sources[0].last<troupe::run>().until > first);
  CHECK(nodes->workers[0].last<troupe::run>().until == nodes->sources[0].last<troupe::run>().until);
}

TEST_CASE_FIXTURE(evaluator_alone,
                  "of two checkpoints of one step the one of an iteration is evaluated, or the newest") {
  options.steps = 1;
  options.directory = "/m";
  commit(7, 0.5f);
  commit(7, 0.25f, 1);
  start();
  const auto value = [&] { return parameters->view(0, 0).as<float>()[0]; };
  tell(judge, evaluate_at{1, {7, 0}, ""});
  CHECK(value() == 0.5f);
  batches(1, 0, {1});
  CHECK(asker.last<evaluated>().id == checkpoint_id{7, 0});
  tell(judge, evaluate_at{1, {7}, ""});
  CHECK(value() == 0.25f);
  batches(2, 0, {1});
  CHECK(asker.last<evaluated>().id == checkpoint_id{7, 1});
  CHECK(asker.last<evaluated>().checkpoint == "/m/model.ckpt-7-iteration-1");
}

TEST_CASE_FIXTURE(evaluator_alone, "a batch that cannot be evaluated gives its cause in place of metrics") {
  start();
  evaluate();
  batches(1, 0, {1});
  end(1, 1, {errc::data_loss, "record 1 has a wrong checksum", {}, "infeed/0", 1});
  halts(1);
  REQUIRE(asker.count<evaluated>() == 1);
  CHECK_FALSE(asker.last<evaluated>().ok);
  CHECK(asker.last<evaluated>().metrics.empty());
  CHECK(asker.last<evaluated>().cause == error{errc::data_loss, "record 1 has a wrong checksum", {}, "infeed/0", 1});
}

TEST_CASE_FIXTURE(evaluator_alone, "a checkpoint that is not there is an error only when it was named") {
  options.directory = "/m";
  options.steps = 1;
  start();
  SUBCASE("named") {
    commit(7, 5);
    evaluate(8);
    REQUIRE(asker.count<evaluated>() == 1);
    CHECK_FALSE(asker.last<evaluated>().ok);
    CHECK(asker.last<evaluated>().cause.category == errc::not_found);
    CHECK(nodes->sources.empty());
    evaluate(7);
    batches(1, 0, {1});
    CHECK_MESSAGE(asker.last<evaluated>().ok, "the next evaluation is none the worse");
  }
  SUBCASE("the newest of none: freshly initialised variables") {
    evaluate();
    CHECK(parameters->view(0, 0) == tensor::of<float>({2}, {1, 1}));
    batches(1, 0, {1});
    CHECK(asker.last<evaluated>().id.step == 0);
  }
}

TEST_CASE_FIXTURE(evaluator_alone, "a stop cancels the running evaluation, and what still comes of it is dropped") {
  options.steps = 2;
  start();
  evaluate();
  batches(1, 0, {1});
  tell(judge, request{request::stop});
  evaluate();
  CHECK_MESSAGE(nodes->workers[0].last<begin>().attempt == 1, "one after the other");
  halts(1);
  REQUIRE(asker.count<evaluated>() == 1);
  CHECK(asker.last<evaluated>().cause.category == errc::cancelled);
  batches(1, 1, {1});
  end(1, 2);
  tell(judge, request{request::stop});
  CHECK(asker.count<evaluated>() == 1);
  evaluate();
  batches(2, 0, {3, 3});
  CHECK(asker.last<evaluated>().ok);
  CHECK(asker.last<evaluated>().batches == 2);
}

TEST_CASE_FIXTURE(evaluator_alone, "replicas that do not stop in time are named in the failure, and replaced") {
  options.silence_max = std::chrono::seconds(10);
  options.steps = 1;
  nodes->agent.ends_nodes = false;
  start();
  evaluate();
  end(1, 0, {errc::data_loss, "record 1 has a wrong checksum"});
  let_pass(std::chrono::seconds(8));
  CHECK(asker.count<evaluated>() == 0);
  let_pass(std::chrono::seconds(4));
  REQUIRE(asker.count<evaluated>() == 1);
  CHECK(asker.last<evaluated>().cause.category == errc::data_loss);
  CHECK(asker.last<evaluated>().cause.notes == std::vector<std::string>{"the replicas did not stop within 10 s"});

  evaluate();
  REQUIRE(asker.count<evaluated>() == 2);
  CHECK(asker.last<evaluated>().cause.category == errc::unavailable);
  CHECK(asker.last<evaluated>().cause.message
        == "evaluator/replica/0 of an earlier evaluation has not stopped and may read the variables");
  CHECK(nodes->workers.size() == 1);
  tell(judge, state_part{1, 0, {variable_piece{"v", {2}, 0, true, tensor::of<float>({2}, {9, 9})}}});
  CHECK_MESSAGE(parameters->view(0, 0) == tensor::of<float>({2}, {1, 1}), "a state is not written beneath it either");

  caf::anon_send_exit(nodes->workers[0].handle(), caf::exit_reason::user_shutdown);
  run();
  tell(judge, evaluate_at{1, {8}, "", true});
  CHECK_MESSAGE(asker.last<evaluated>().cause.category == errc::unavailable, "a part of that state is missing");
  evaluate();
  CHECK(nodes->workers.size() == 2);
  batches(2, 0, {1});
  CHECK(asker.last<evaluated>().ok);
}

TEST_CASE_FIXTURE(evaluator_alone,
                  "an evaluation that nobody hears of any more ends with a deadline that says where everyone stands") {
  options.silence_max = std::chrono::seconds(10);
  start();
  evaluate();
  let_pass(std::chrono::seconds(8));
  batches(1, 0, {1});
  let_pass(std::chrono::seconds(9));
  CHECK(nodes->sources[0].count<probe>() == 0);
  let_pass(std::chrono::seconds(2));
  REQUIRE(nodes->sources[0].count<probe>() == 1);
  CHECK_MESSAGE(asker.count<evaluated>() == 0, "they are asked first");
  const auto number = nodes->sources[0].last<probe>().number;
  tell(judge, standing{number, "evaluator/replica/0", {{"received", 1}, {"computed", 1}}});
  tell(judge, standing{number, "evaluator/outfeed", {{"reported", 1}}});
  SUBCASE("who does not answer is named first") {
    let_pass(std::chrono::seconds(11));
    halts(1);
    REQUIRE(asker.count<evaluated>() == 1);
    CHECK(asker.last<evaluated>().cause.category == errc::deadline_exceeded);
    CHECK(asker.last<evaluated>().cause.message
          == "batch 1 was not evaluated within 10 s: evaluator/infeed/0 does not answer; evaluator/replica/0: "
             "received 1, computed 1; "
             "evaluator/outfeed: reported 1");
  }
  SUBCASE("when all have answered nobody is waited for any longer") {
    tell(judge, standing{number, "evaluator/infeed/0", {{"sent", 1}}});
    halts(1);
    CHECK(asker.count<evaluated>() == 1);
  }
  SUBCASE("a batch that comes meanwhile goes on with the evaluation") {
    batches(1, 1, {1});
    tell(judge, standing{number, "evaluator/infeed/0", {{"sent", 2}}});
    CHECK(asker.count<evaluated>() == 0);
  }
}

TEST_CASE_FIXTURE(evaluator_alone, "an evaluation whose process stood still for an hour goes on") {
  options.silence_max = std::chrono::seconds(10);
  options.steps = 1;
  start();
  evaluate();
  let_pass(std::chrono::seconds(5));
  advance_time(std::chrono::hours(1));
  CHECK(nodes->sources[0].count<probe>() == 0);
  batches(1, 0, {1});
  CHECK(asker.last<evaluated>().ok);
}

TEST_CASE_FIXTURE(evaluator_alone,
                  "the death of a node is the end of that evaluation, and the next one has new nodes") {
  options.steps = 1;
  start();
  evaluate();
  caf::anon_send_exit(nodes->workers[0].handle(), caf::exit_reason::user_shutdown);
  run();
  REQUIRE_MESSAGE(asker.count<evaluated>() == 1, "nobody waits for the dead");
  CHECK(asker.last<evaluated>().cause.category == errc::aborted);
  evaluate();
  REQUIRE(nodes->workers.size() == 2);
  CHECK(nodes->sources.size() == 2);
  caf::anon_send_exit(nodes->sources[0].handle(), caf::exit_reason::user_shutdown);
  run();
  batches(2, 0, {1});
  CHECK(asker.last<evaluated>().ok);
}

}  // namespace troupe::test
