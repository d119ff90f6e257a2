// The plans of a search: groups, ports, policies and growth of each iteration, and that their programs can be built.
#include "pipeline/plan/search_plan.hpp"

#include "support/ids.hpp"
#include "support/search_job.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <regex>

namespace troupe::test {

namespace {

error refusal_of(const training_job& job, const job_books& books = {}) {
  const auto made = plan_of(job, books);
  REQUIRE_FALSE(made);
  return made.error();
}

/// The text of a plan with edges of data alone, each without its number, its in-port and its credit.
std::string short_text(const job_plan& p) {
  std::string text, all = to_text(p);
  for (size_t at = 0; at < all.size();) {
    auto line = all.substr(at, all.find('\n', at) - at);
    at += line.size() + 1;
    if (line.starts_with("edge ") && has(line, "blocks"))
      text += "edge "
              + std::regex_replace(line, std::regex{"edge .*: (.*) => (.*/replica/.)[^,]*, (.*), .*"}, "$1 => $2, $3")
              + "\n";
    else if (!line.starts_with("edge ") && !line.starts_with("snapshot"))
      text += line + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("iteration 0 of a search has a group for each subnetwork and each candidate, which reads its members") {
  const auto planned = planned_search(search_job(small_search_options()));
  CHECK(short_text(planned.plan)
        == R"(node infeed/0: infeed of tensors -> shuffle -> batch(4) -> repeat, stops at infeeds
node t0_linear_grow_cr/replica/0: replica of t0_linear_grow_cr
node t0_1_layer_dnn_grow_cr/replica/0: replica of t0_1_layer_dnn_grow_cr
node t0_linear/replica/0: replica of t0_linear
node t0_1_layer_dnn/replica/0: replica of t0_1_layer_dnn
node outfeed: outfeed
node checkpoint_writer: checkpoint_writer
node summary_writer: summary_writer
node callbacks: callbacks
node chief: chief, stops at infeeds
edge infeed/0 => t0_linear_grow_cr/replica/0, broadcast
edge t0_linear/replica/0.adanet/t0_linear/logits => t0_linear_grow_cr/replica/0, broadcast
edge infeed/0 => t0_1_layer_dnn_grow_cr/replica/0, broadcast
edge t0_1_layer_dnn/replica/0.adanet/t0_1_layer_dnn/logits => t0_1_layer_dnn_grow_cr/replica/0, broadcast
edge infeed/0 => t0_linear/replica/0, broadcast
edge infeed/0 => t0_1_layer_dnn/replica/0, broadcast
shown: t0_linear_grow_cr, t0_1_layer_dnn_grow_cr, t0_linear, t0_1_layer_dnn
group t0_linear_grow_cr: falls with t0_linear
group t0_linear_grow_cr: tells 4 values at saves
group t0_linear_grow_cr: summaries in ensemble/t0_linear_grow_cr
group t0_1_layer_dnn_grow_cr: falls with t0_1_layer_dnn
group t0_1_layer_dnn_grow_cr: tells 4 values at saves
group t0_1_layer_dnn_grow_cr: summaries in ensemble/t0_1_layer_dnn_grow_cr
group t0_linear: summaries in subnetwork/t0_linear
group t0_1_layer_dnn: summaries in subnetwork/t0_1_layer_dnn
iteration 0: to state 10
)");
  const auto& g = group_called(planned, dnn_grows);
  CHECK(g.told_at_saves
        == std::vector<std::string>{"adanet/iteration_0/candidate_t0_1_layer_dnn_grow_cr/adanet_loss",
                                    "adanet/iteration_0/candidate_t0_1_layer_dnn_grow_cr/adanet_loss/biased",
                                    "adanet/iteration_0/candidate_t0_1_layer_dnn_grow_cr/adanet_loss/local_step",
                                    "adanet/iteration_0/candidate_t0_1_layer_dnn_grow_cr/adanet_penalty"});
  CHECK(group_called(planned, "t0_linear").told_at_saves.empty());
  CHECK(checked(planned).saves());
  CHECK(parse_books(planned.blobs.at("search"), "the plan")->candidates.size() == 2);
}

TEST_CASE("iteration 1 also has the previous ensemble, retired, which gives others what they read of its members") {
  const auto job = search_job(small_search_options());
  const auto first = planned_search(job);
  const auto planned = planned_search(job, books_at(first, 10, 1));
  CHECK(short_text(planned.plan)
        == R"(node infeed/0: infeed of tensors -> shuffle -> batch(4) -> repeat, stops at infeeds
node t1_1_layer_dnn_grow_cr/replica/0: replica of t1_1_layer_dnn_grow_cr
node t1_2_layer_dnn_grow_cr/replica/0: replica of t1_2_layer_dnn_grow_cr
node t1_1_layer_dnn/replica/0: replica of t1_1_layer_dnn
node t1_2_layer_dnn/replica/0: replica of t1_2_layer_dnn
node previous/replica/0: replica of previous
node outfeed: outfeed
node checkpoint_writer: checkpoint_writer
node summary_writer: summary_writer
node callbacks: callbacks
node chief: chief, stops at infeeds
edge infeed/0 => t1_1_layer_dnn_grow_cr/replica/0, broadcast
edge previous/replica/0.adanet/t0_1_layer_dnn/logits => t1_1_layer_dnn_grow_cr/replica/0, broadcast
edge t1_1_layer_dnn/replica/0.adanet/t1_1_layer_dnn/logits => t1_1_layer_dnn_grow_cr/replica/0, broadcast
edge infeed/0 => t1_2_layer_dnn_grow_cr/replica/0, broadcast
edge previous/replica/0.adanet/t0_1_layer_dnn/logits => t1_2_layer_dnn_grow_cr/replica/0, broadcast
edge t1_2_layer_dnn/replica/0.adanet/t1_2_layer_dnn/logits => t1_2_layer_dnn_grow_cr/replica/0, broadcast
edge infeed/0 => t1_1_layer_dnn/replica/0, broadcast
edge infeed/0 => t1_2_layer_dnn/replica/0, broadcast
edge infeed/0 => previous/replica/0, broadcast
shown: t1_1_layer_dnn_grow_cr, t1_2_layer_dnn_grow_cr, t1_1_layer_dnn, t1_2_layer_dnn, previous
group t1_1_layer_dnn_grow_cr: falls with t1_1_layer_dnn
group t1_1_layer_dnn_grow_cr: begins at step 10
group t1_1_layer_dnn_grow_cr: tells 4 values at saves
group t1_1_layer_dnn_grow_cr: summaries in ensemble/t1_1_layer_dnn_grow_cr
group t1_2_layer_dnn_grow_cr: falls with t1_2_layer_dnn
group t1_2_layer_dnn_grow_cr: begins at step 10
group t1_2_layer_dnn_grow_cr: tells 4 values at saves
group t1_2_layer_dnn_grow_cr: summaries in ensemble/t1_2_layer_dnn_grow_cr
group t1_1_layer_dnn: begins at step 10
group t1_1_layer_dnn: summaries in subnetwork/t1_1_layer_dnn
group t1_2_layer_dnn: begins at step 10
group t1_2_layer_dnn: summaries in subnetwork/t1_2_layer_dnn
group previous: retires at step 10
group previous: summaries in ensemble/t0_1_layer_dnn_grow_cr
iteration 1: from state 10 to state 20
)");
  CHECK(group_called(planned, "t1_2_layer_dnn").begins_at == 10);
  CHECK(group_called(planned, "t1_2_layer_dnn_grow_cr").begins_at == 10);
  CHECK(group_called(planned, "previous").told_at_saves.empty());
  const auto ok = check_successor(checked(first), checked(planned));
  CHECK_MESSAGE(ok, (ok ? "" : to_text(ok.error())));
  const auto books = parse_books(planned.blobs.at("search"), "the plan");
  REQUIRE(books);
  CHECK(books->iteration() == 1);
  CHECK(books->candidates.size() == 3);
  CHECK(planned.growth.fresh == std::vector<std::string>{"adanet/iteration_1/"});
  CHECK(planned.growth.renamed.empty());
  CHECK(planned.growth.drops_rest);
}

TEST_CASE("a search goes on in the middle of an iteration with the same plan, and with the stops that it knows") {
  const auto job = search_job(small_search_options());
  const auto first = planned_search(job);
  auto middle = books_at(first, 7);
  CHECK(planned_search(job, middle).plan == first.plan);
  auto second = planned_search(job, books_at(first, 10, 0));
  CHECK(planned_search(job, books_at(second, 13)).plan == second.plan);

  auto books = *parse_books(middle->blobs.at("search"), "test");
  books.subnetworks[0].stop = spec_stop{stop_cause::hook, 4, ""};
  books.subnetworks[0].step = 4;
  books.subnetworks[1].stop = spec_stop{stop_cause::dropped, 6, ""};
  books.subnetworks[1].step = 6;
  books.candidates[0].stop = spec_stop{stop_cause::end_of_input, 5, ""};
  middle->blobs["search"] = books_text(books);
  const auto planned = planned_search(job, middle);
  CHECK(group_called(planned, "t0_linear").retires_at == 4);
  CHECK_FALSE(group_called(planned, "t0_1_layer_dnn").retires_at);
  CHECK(group_called(planned, linear_grows).retires_at == 5);
  CHECK_MESSAGE(planned.plan.iteration.ends_at == 10, "one that was dropped counts as going on");
}

TEST_CASE("with two replicas a group, each reads from the replica of its number, and the rows of batches are split") {
  const auto job = search_job(small_search_options(), {.replicas = 2});
  const auto planned = planned_search(job);
  const auto text = short_text(planned.plan);
  for (const std::string r : {"0", "1"}) {
    CHECK(has(text, "infeed/0 => t0_linear/replica/" + r + ", split"));
    CHECK(has(text, "infeed/0 => " + std::string{linear_grows} + "/replica/" + r + ", split"));
    CHECK(has(text, "t0_linear/replica/" + r + ".adanet/t0_linear/logits => " + linear_grows + "/replica/" + r
                        + ", broadcast"));
  }
  checked(planned);
  auto by_messages = job;
  by_messages.reducers = true;
  const auto summed = planned_search(by_messages);
  for (const auto& g : summed.plan.groups)
    CHECK(node_called(summed, g.name + "/reducer").group == g.id);
  checked(summed);
  prepared_search(job, planned);
  const auto second = planned_search(job, books_at(planned, 10, 0));
  CHECK(check_successor(checked(planned), checked(second)));
  prepared_search(job, second);
}

TEST_CASE(
    "candidates leave alone if the search drops them, and ensembles fall with each new subnetwork that they have") {
  auto o = small_search_options();
  o.ensemble_strategies = {strategy::grow(), strategy::all()};
  for (const bool drops : {false, true}) {
    CAPTURE(drops);
    o.on_candidate_not_finite = drops ? candidate_not_finite::drop : candidate_not_finite::fail;
    const auto job = search_job(o);
    const auto planned = planned_search(job, books_at(planned_search(job), 10, 2));
    checked(planned);
    for (const auto& g : planned.plan.groups)
      CHECK(g.leaves == (drops && g.name != "previous" ? leaves_on::numbers : leaves_on::never));
    const auto a = group_called(planned, "t1_1_layer_dnn").id, b = group_called(planned, "t1_2_layer_dnn").id;
    CHECK(group_called(planned, "t1_1_layer_dnn_grow_cr").falls_with == std::vector{a});
    CHECK(group_called(planned, "t1_2_layer_dnn_grow_cr").falls_with == std::vector{b});
    CHECK(group_called(planned, "t1_all_cr").falls_with == std::vector{a, b});
    CHECK(group_called(planned, "t1_1_layer_dnn").falls_with.empty());
    CHECK(group_called(planned, "previous").falls_with.empty());
  }
}

TEST_CASE("an evaluation of a search computes all subnetworks and candidates from the variables of all groups") {
  auto job = search_job(small_search_options(), {.evaluates = true});
  job.evaluations.push_back({.data = {.input = small_dataset(12).batch(4), .name = "test"}});
  job.basis.config.summary_steps = 5;
  job.hooks = {std::make_shared<hook>()};
  const auto first = planned_search(job);
  const auto second = planned_search(job, books_at(first, 10, 1));
  CHECK(check_successor(checked(first), checked(second)));
  CHECK(work_of(first.plan, node_called(first, "evaluator/test/replica/0")) == "composite (evaluate)");
  for (const std::string name :
       {"chief", "checkpoint_writer", "summary_writer", "callbacks", "summary_writer/eval", "summary_writer/eval_test"})
    CHECK(node_called(first, name).id == node_called(second, name).id);
  const auto prepared = prepared_search(job, second);
  REQUIRE(prepared->evaluated_groups.size() == 2);
  CHECK(prepared->evaluated_groups[1].size() == second.plan.groups.size());
}

TEST_CASE("a subnetwork retires after the steps that its builder wants, and an iteration ends when all have stopped") {
  const auto with_steps = [](std::optional<int64_t> linear, std::optional<int64_t> dnn) {
    auto o = small_search_options();
    o.subnetwork_generator = [linear, dnn, f = o.subnetwork_generator](const generator_input& in) {
      auto builders = f(in);
      builders[0].steps_max = linear;
      builders[1].steps_max = dnn;
      return builders;
    };
    return o;
  };
  auto planned = planned_search(search_job(with_steps(4, 25)));
  CHECK(group_called(planned, "t0_linear").retires_at == 4);
  CHECK_FALSE(group_called(planned, "t0_1_layer_dnn").retires_at);
  CHECK((planned.plan.iteration == plan_iteration{.ends_at = 10}));
  const auto job = search_job(with_steps(4, 7));
  planned = planned_search(job);
  CHECK(group_called(planned, "t0_1_layer_dnn").retires_at == 7);
  CHECK((planned.plan.iteration == plan_iteration{.ends_at = 7}));
  planned = planned_search(job, books_at(planned, 7, 0));
  CHECK(group_called(planned, "t1_linear").retires_at == 11);
  CHECK(group_called(planned, "previous").retires_at == 7);
  CHECK((planned.plan.iteration == plan_iteration{1, 7, 14}));
  auto endless = with_steps(4, {});
  endless.max_iteration_steps.reset();
  planned = planned_search(search_job(endless));
  CHECK(group_called(planned, "t0_linear").retires_at == 4);
  CHECK_FALSE(planned.plan.iteration.ends_at);
}

TEST_CASE("no iteration follows the last one that a search may have") {
  auto o = small_search_options();
  o.max_iterations = 2;
  const auto job = search_job(o);
  const auto first = planned_search(job);
  CHECK((first.plan.iteration == plan_iteration{.ends_at = 10}));
  CHECK((planned_search(job, books_at(first, 10, 0)).plan.iteration == plan_iteration{.number = 1, .begins_at = 10}));
}

TEST_CASE("a builder may read the previous logits and any output of a member, and the previous ensemble gives these") {
  auto o = small_search_options();
  o.subnetwork_generator = generators::list(
      {{.name = "reader",
        .build = [](graph& g, const build_context& c) -> subnetwork {
          auto h = nn::dense(c.features["x"], {.units = 4, .name = "hidden"});
          if (c.previous)
            h = h + c.previous->output(0, "hidden") + reduce_mean(c.previous->logits());
          g.scalar("mean", reduce_mean(h));
          return {.last_layer = h,
                  .logits = nn::dense(h, {.units = c.logits_dimension, .name = "logits"}),
                  .complexity = 1,
                  .outputs = {{"hidden", h}}};
        },
        .optimizer = momentum{.rate = .05f}}});
  const auto job = search_job(o);
  const auto planned = planned_search(job, books_at(planned_search(job), 10, 0));
  CHECK(node_called(planned, "previous/replica/0").out_ports
        == std::vector<std::string>{"adanet/t0_reader/hidden", "adanet/t0_reader/logits",
                                    "adanet/t0_reader_grow_cr/logits"});
  CHECK(node_called(planned, "t1_reader/replica/0").in_ports
        == std::vector<std::string>{"data", "adanet/t0_reader/hidden", "adanet/t0_reader_grow_cr/logits"});
  checked(planned);
  prepared_search(job, planned);
}

TEST_CASE("the programs of a search can be built, also where ensembles or subnetworks have nothing to train") {
  for (const int64_t replicas : {1, 2}) {
    CAPTURE(replicas);
    auto o = small_search_options();
    o.ensemblers.push_back(mean_ensembler{});
    o.subnetwork_generator = [f = o.subnetwork_generator](const generator_input& in) {
      auto builders = f(in);
      builders[0].optimizer.reset();
      return builders;
    };
    const auto made = prepare(search_job(o, {.replicas = replicas}));
    REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
    CHECK((*made)->programs.size() == 6);
    for (const auto& program : (*made)->programs)
      CHECK(program.engines.size() == static_cast<size_t>(replicas));
  }
}

TEST_CASE("a builder that throws while its ports are looked for is an error of the plan") {
  auto o = small_search_options();
  o.subnetwork_generator = generators::list({{.name = "bad", .build = [](graph&, const build_context&) -> subnetwork {
                                                throw std::runtime_error("no idea");
                                              }}});
  CHECK(refusal_of(search_job(o)).category == errc::state);
  CHECK(has(refusal_of(search_job(o)).message, "no idea"));
}

TEST_CASE("a variable with the name of a number that checkpoints of a search have is refused") {
  auto o = small_search_options();
  o.subnetwork_generator = generators::list({{.name = "a",
                                              .build = [](graph& g, const build_context& c) -> subnetwork {
                                                g.variable({.name = "step", .trainable = false});
                                                const auto logits = nn::dense(c.features["x"], {.units = 3});
                                                return {.last_layer = logits, .logits = logits, .complexity = 1};
                                              },
                                              .optimizer = adam{}}});
  const auto made = prepare(search_job(o));
  REQUIRE_FALSE(made);
  CHECK(made.error().category == errc::invalid_argument);
  CHECK(has(made.error().message, "variable 'adanet/iteration_0/subnetwork_t0_a/step' of 't0_a' has a name that "));
}

TEST_CASE("the rules of a search are those of its options, with the steps of the job") {
  auto o = small_search_options();
  o.max_iterations = 3;
  o.force_grow = true;
  o.replay_indices = {1, 0};
  o.evaluator = search_evaluator{
      .input = small_dataset(8).batch(4), .metric_name = "accuracy", .objective = objective::maximize};
  const auto rules = rules_of(search_job(o, {.max_steps = 30}));
  CHECK(rules.limits.max_iteration_steps == 10);
  CHECK(rules.limits.max_iterations == 3);
  CHECK(rules.limits.max_steps == 30);
  CHECK_FALSE(rules.limits.steps);
  CHECK(rules.choice.force_grow);
  CHECK(rules.choice.replay == std::vector<int64_t>{1, 0});
  REQUIRE(rules.choice.evaluator);
  CHECK(rules.choice.evaluator->metric == "accuracy");
  CHECK(rules.choice.evaluator->goal == objective::maximize);
  CHECK_FALSE(rules.makes_reports);
}

TEST_CASE("a job that cannot be a search is refused before anything is planned") {
  const auto job = search_job(small_search_options());
  auto stops = job;
  stops.basis.config.on_not_finite = not_finite::stop;
  CHECK(refusal_of(stops).category == errc::invalid_argument);
  CHECK(has(refusal_of(stops).message, "on_not_finite = stop"));
  auto spread = job;
  spread.hosts = 2;
  CHECK(refusal_of(spread).category == errc::unimplemented);
  auto o = small_search_options();
  o.max_iterations = 0;
  CHECK(has(refusal_of(search_job(o)).message, "max_iterations"));
  auto twice = job;
  twice.steps = 5;
  CHECK(has(refusal_of(twice).message, "exclude"));
}

TEST_CASE("books of another job, of another iteration or of other builders are refused, and the error says which") {
  const auto job = search_job(small_search_options());
  const auto first = planned_search(job);
  auto plain = books_at(first, 5);
  plain->blobs.clear();
  const auto refused = refusal_of(job, plain);
  CHECK(refused.category == errc::failed_precondition);
  CHECK(has(refused.message, "/run/model.ckpt-5 is of a job that is no search: "));
  auto torn = books_at(first, 5);
  torn->blobs["search"] = "{";
  CHECK(refusal_of(job, torn).category == errc::data_loss);
  CHECK(has(refusal_of(job, torn).message, "/run/model.ckpt-5"));
  auto other = books_at(first, 5);
  other->id.iteration = 3;
  CHECK(has(refusal_of(job, other).message, "is of iteration 3, and has the books of iteration 0"));
  auto o = small_search_options();
  o.subnetwork_generator = generators::linear({});
  CHECK(refusal_of(search_job(o), books_at(first, 5)).category == errc::failed_precondition);
}

}  // namespace troupe::test
