// Searches whose subnetworks are ordinary models of a pool.
#include "support/ended_jobs.hpp"
#include "support/plans.hpp"
#include "support/small_search.hpp"
#include "tests/support/has.hpp"

#include <troupe/canned_models.hpp>
#include <troupe/search/auto_ensemble.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using texts = std::vector<std::string>;

head head_of_three() { return multi_class_head{.classes = 3}; }

pool_member linear_member(float rate = 0.1f) {
  return {.model = linear_model({.head = head_of_three(), .optimizer = gradient_descent{.rate = rate}})};
}
pool_member dnn_member() {
  return {.model = dnn_model({.hidden_units = {5}, .head = head_of_three(), .optimizer = adam{.rate = 0.02f}})};
}

small_search search_over(model_pool pool) {
  small_search s;
  s.search.subnetwork_generator = generators::auto_ensemble({.pool = std::move(pool)});
  return s;
}

train_result run_pool(small_search s) {
  simulated_job job{prepare_search(s), 1};
  return run_to_end(job);
}

texts builders_in(const small_search& s) {
  texts names;
  for (const auto& b : newest_books(s.o.files).subnetworks)
    names.push_back(b.builder);
  return names;
}

tensor tensor_called(const small_search& s, const std::string& name) {
  for (const auto& t : newest_checkpoint(s.o.files).content.tensors)
    if (t.name == name)
      return t.value;
  FAIL("there is no variable ", name);
  return {};
}

}  // namespace

TEST_CASE("[ADA-22.11 pool forms] a pool is a list in its order, a map in that of its keys, or a function of either") {
  const std::vector<std::pair<model_pool, texts>> forms{
      {model_list{linear_member(), dnn_member()}, {"linear_model0", "dnn_model1"}},
      {model_map{{"wide", linear_member()}, {"deep", dnn_member()}}, {"deep", "wide"}},
      {[](int64_t) { return model_list{linear_member()}; }, {"linear_model0"}},
      {[](int64_t iteration) -> std::variant<model_list, model_map> {
         return iteration == 0 ? model_map{{"first", linear_member()}}
                               : model_map{{"later", dnn_member()}, {"last", linear_member()}};
       },
       {"last", "later"}}};
  for (const auto& [pool, builders] : forms) {
    auto s = search_over(pool);
    s.search.max_iterations = 2;
    const auto result = run_pool(s);
    CHECK(result.global_step == 20);
    REQUIRE(result.search);
    CHECK(result.search->iteration == 1);
    CHECK(builders_in(s) == builders);
  }
}

TEST_CASE("[ADA-22.11 global step] the global step is the number of steps asked for, with any number of members") {
  for (const int64_t iteration_steps : {15, 5}) {
    auto s = search_over(model_list{linear_member(), dnn_member(), linear_member(0.01f)});
    s.o.max_steps = 15;
    s.search.max_iteration_steps = iteration_steps;
    s.search.max_iterations.reset();
    CHECK(run_pool(s).global_step == 15);
  }
}

TEST_CASE("a model of a pool trains to the bits that it has when it trains alone") {
  auto s = search_over(model_list{linear_member()});
  s.search.max_iterations = 1;
  run_pool(s);
  small_job_options alone{.max_steps = 10, .source = linear_member().model};
  const auto trained = variables(state_at_end(alone), "linear/");
  CHECK(trained.size() == 2);
  for (const auto& [name, value] : trained)
    CHECK(tensor_called(s, subnetwork_scope(0, "linear_model0") + "/" + name) == value);
}

TEST_CASE("[ADA-22.11 details] a pretrained member keeps its values, in each iteration") {
  const auto kernel = tensor::of<float>({8, 3}, std::vector<float>(24, 0.25f));
  const pool_member pretrained{
      .model = {"pretrained",
                [kernel](graph& g, const features& x, const labels&, mode) -> model_spec {
                  const auto w = g.variable({.name = "w", .dims = {8, 3}, .initial = init::values(kernel)});
                  return {.predictions = {{"predictions", matmul(x["x"], w)}}};
                }},
      .prediction_only = true};
  auto s = search_over(model_map{{"pretrained", pretrained}, {"dnn", dnn_member()}});
  s.search.ensemble_strategies = {strategy::all()};
  s.search.max_iterations = 2;
  s.search.force_grow = true;
  run_pool(s);
  CHECK(tensor_called(s, subnetwork_scope(0, "pretrained") + "/w") == kernel);
  CHECK(tensor_called(s, subnetwork_scope(1, "pretrained") + "/w") == kernel);
}

TEST_CASE("[ADA-22.11 details] functions of one's own find logits and last layer among the predictions of a model") {
  const model deep{"deep", [](graph& g, const features& x, const labels& y, mode m) {
                     const auto h = nn::dense(x["x"], {.units = 4, .activation = relu, .name = "hidden"});
                     const auto logits = nn::dense(h, {.units = 3, .name = "out"});
                     auto spec = head_of_three().spec(
                         g, {.mode = m, .logits = logits, .labels = y.only(), .optimizer = gradient_descent{}});
                     spec.predictions = {{"top", logits}, {"hidden", h}};
                     return spec;
                   }};
  auto s = search_over({});
  const auto named = [](const std::string& name) {
    return [name](const std::map<std::string, symbol>& all) { return by_head{all.at(name)}; };
  };
  generators::auto_ensemble_options o{.pool = model_list{{.model = deep}}, .logits_fn = named("top")};
  s.search.subnetwork_generator = generators::auto_ensemble(o);
  s.search.max_iterations = 1;
  std::get<complexity_regularized_ensembler>(s.search.ensemblers[0]).mixture_weight_type = mixture_weight::matrix;
  const auto weight = mixture_weight_key(0, "t0_deep0_grow_cr", 0);
  run_pool(s);
  CHECK_MESSAGE((tensor_called(s, weight).dims() == shape{3, 3}), "of the logits");
  o.last_layer_fn = named("hidden");
  s.o.files = memory_disk::make();
  s.search.subnetwork_generator = generators::auto_ensemble(o);
  run_pool(s);
  CHECK((tensor_called(s, weight).dims() == shape{4, 3}));
}

TEST_CASE("models that cannot be members are refused with their names before the search begins") {
  const auto refused_for = [](pool_member member, errc category, const std::string& what) {
    const auto s = search_over(model_list{std::move(member)});
    const auto made = prepare(describe_search(s));
    REQUIRE_FALSE(made);
    CHECK(made.error().category == category);
    CHECK_MESSAGE(has(made.error().message, what), made.error().message);
  };
  refused_for({.model = {.name = "empty"}}, errc::invalid_argument, "the model 'empty0' has no build function");
  const auto of = [](auto edit) {
    return pool_member{.model = {"odd", [edit](graph& g, const features& x, const labels& y, mode m) {
                                   auto spec = linear_member().model.build(g, x, y, m);
                                   edit(spec);
                                   return spec;
                                 }}};
  };
  refused_for(of([](model_spec& x) { x.loss = {}; }), errc::invalid_argument, "the model 'odd0' has no loss");
  refused_for(of([](model_spec& x) { x.optimizer.reset(); }), errc::invalid_argument,
              "the model 'odd0' has no optimizer");
  refused_for(of([](model_spec& x) {
                x.predictions = {{"ids", x.predictions.at("class_ids")}};
              }),
              errc::key_missing, "the model 'odd0' predicts neither 'logits' nor 'predictions', but 'ids'");
  refused_for({.model = linear_member().model, .name = "a b"}, errc::invalid_argument, "a b");
}

}  // namespace troupe::test
