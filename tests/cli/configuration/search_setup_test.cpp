#include "cli/configuration/search_setup.hpp"

#include "cli/configuration/config_file.hpp"
#include "cli/configuration/job_setup.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

namespace troupe::cli {

using test::has;

namespace {

constexpr const char* networks = "[search.generator]\nkind = \"simple_dnn\"\n";
constexpr const char* head_of_ten = "[head]\ntype = \"multi_class_head\"\nclasses = 10\n";

expected<settings> merged(const std::string& text, std::initializer_list<const char*> more = {}) {
  std::istringstream stream{text};
  const auto file = parse_config(stream, "my.toml");
  REQUIRE_MESSAGE(file, (file ? "" : file.error().message));
  std::vector<assignment> set;
  for (const auto* key : more)
    set.push_back(*parse_assignment(key));
  return settings::merge(*file, set, {});
}

search_setup made(const std::string& text, std::initializer_list<const char*> more = {}) {
  const auto s = merged(text + head_of_ten, more).and_then([](const settings& all) { return make_search(all); });
  REQUIRE_MESSAGE(s, (s ? "" : s.error().message));
  return *s;
}

/// The error for a search with these lines, of which the first is line 1.
std::string trouble(const std::string& text, std::initializer_list<const char*> more = {}) {
  const auto s = merged(text + head_of_ten, more).and_then([](const settings& all) { return make_search(all); });
  REQUIRE_FALSE(s);
  CHECK(s.error().category == errc::invalid_argument);
  return s.error().message;
}

std::string trouble_of_job(const std::string& text, job_purpose purpose) {
  const auto s = merged(text).and_then([&](const settings& all) { return make_job_setup(all, purpose); });
  REQUIRE_FALSE(s);
  CHECK(s.error().category == errc::invalid_argument);
  return s.error().message;
}

std::vector<std::string> names_of(const search_setup& s, const generator_input& in = {}) {
  std::vector<std::string> names;
  for (const auto& b : s.options.subnetwork_generator(in))
    names.push_back(b.name);
  return names;
}

using names = std::vector<std::string>;

const complexity_regularized_ensembler& regularized(const search_setup& s, size_t i = 0) {
  return std::get<complexity_regularized_ensembler>(s.options.ensemblers.at(i));
}

}  // namespace

TEST_CASE("every field of [search] reaches the options from its key, and without keys they are those of C++") {
  const auto s = made(
      "[search]\nmax_iteration_steps = 30\nmax_iterations = 2\nforce_grow = true\n"
      "replicate_ensemble_in_training = true\nadanet_loss_decay = 0.5\non_candidate_not_finite = \"drop\"\n"
      "replay_indices = [1, 2]\ncache_bytes_max = 1000\nexport_subnetwork_logits = true\n"
      "export_subnetwork_last_layer = false\nenable_ensemble_summaries = false\n"
      "enable_subnetwork_summaries = false\ndebug = true\nstrategies = [\"all\", \"solo\"]\n"
      + std::string{networks});
  const auto& o = s.options;
  CHECK(o.max_iteration_steps == 30);
  CHECK(o.max_iterations == 2);
  CHECK(o.force_grow);
  CHECK(o.replicate_ensemble_in_training);
  CHECK(o.adanet_loss_decay == 0.5f);
  CHECK(o.on_candidate_not_finite == candidate_not_finite::drop);
  CHECK(o.replay_indices == std::vector<int64_t>{1, 2});
  CHECK(o.cache_bytes_max == 1000);
  CHECK(o.export_subnetwork_logits);
  CHECK_FALSE(o.export_subnetwork_last_layer);
  CHECK_FALSE(o.enable_ensemble_summaries);
  CHECK_FALSE(o.enable_subnetwork_summaries);
  CHECK(o.debug);
  REQUIRE(o.ensemble_strategies.size() == 2);
  CHECK(o.ensemble_strategies[0].candidates({"a"}, {}).at(0).name == "all");
  CHECK(o.ensemble_strategies[1].candidates({"a"}, {}).at(0).name == "a_solo");
  CHECK(o.head.logits == 10);
  CHECK(s.ends);

  const auto plain = made(networks);
  const search_options defaults;
  each_field(defaults, [&](const field_row& field, const auto& value) {
    each_field(plain.options, [&](const field_row& other, const auto& same) {
      if constexpr (std::is_same_v<decltype(value), decltype(same)>)
        CHECK_MESSAGE((field.name != other.name || value == same), field.name);
    });
  });
  CHECK(plain.options.ensemble_strategies.at(0).candidates({"a"}, {}).at(0).name == "a_grow");
  CHECK(plain.options.ensemblers.size() == 1);
  CHECK_FALSE(regularized(plain).optimizer);
  CHECK_FALSE(plain.evaluation);
  CHECK_FALSE(plain.ends);
}

TEST_CASE("every kind of generator is made with its options and its optimizer") {
  CHECK(names_of(made(networks)) == names{"linear", "1_layer_dnn"});
  const auto deep = made(networks
                         + std::string{"initial_num_layers = 2\nlayer_size = 8\ndropout = 0.25\nseed = 5\n"
                                       "features = [\"x\"]\n[search.generator.optimizer]\nname = \"sgd\"\n"
                                       "rate = 0.5\nclip_norm = 2\n"});
  CHECK(names_of(deep) == names{"2_layer_dnn", "3_layer_dnn"});
  CHECK(to_text(*deep.options.subnetwork_generator({}).at(0).optimizer)
        == to_text(optimizer{.rule = gradient_descent{.rate = 0.5f}, .clip = {.norm = 2}}));
  CHECK(names_of(made("[search.generator]\nkind = \"simple_cnn\"\nfilters = 4\nunits = 3\nname = \"c\"\n"))
        == names{"c"});
  CHECK(names_of(made("[search.generator]\nkind = \"linear\"\n")) == names{"linear"});
  // The kind of --set drops the fields that the file has for another one.
  CHECK(names_of(made(networks + std::string{"layer_size = 8\n"}, {"search.generator.kind=linear", "generator.name=l"}))
        == names{"l"});
}

TEST_CASE("the ensemblers of a file are made in their order, each with an optimizer of its own or none") {
  const auto s = made(
      networks
      + std::string{"[[search.ensemblers]]\nadanet_lambda = 0.25\nadanet_beta = 0.5\nuse_bias = true\n"
                    "mixture_weight_type = \"matrix\"\nmixture_weight_initializer = \"zeros\"\n"
                    "warm_start_mixture_weights = true\nname = \"first\"\n[search.ensemblers.optimizer]\n"
                    "name = \"adagrad\"\n[[search.ensemblers.optimizer.groups]]\nsuffix = \"bias\"\nfrozen = true\n"
                    "[[search.ensemblers]]\nkind = \"mean\"\nadd_mean_last_layer_predictions = true\n"
                    "[[search.ensemblers]]\nkind = \"complexity_regularized\"\n"});
  REQUIRE(s.options.ensemblers.size() == 3);
  const auto& first = regularized(s);
  CHECK(first.name == "first");
  CHECK(first.adanet_lambda == 0.25);
  CHECK(first.adanet_beta == 0.5);
  CHECK(first.use_bias);
  CHECK(first.mixture_weight_type == mixture_weight::matrix);
  CHECK(first.warm_start_mixture_weights);
  REQUIRE(first.mixture_weight_initializer);
  CHECK(first.mixture_weight_initializer->what == initializer::kind::zeros);
  REQUIRE(first.optimizer);
  CHECK(to_text(*first.optimizer)
        == to_text(optimizer{.rule = adagrad{}, .groups = {{.suffix = "bias", .frozen = true}}}));
  CHECK(std::get<mean_ensembler>(s.options.ensemblers[1]).add_mean_last_layer_predictions);
  CHECK(name_of(s.options.ensemblers[1]) == "mean");
  CHECK(regularized(s, 2).name == "complexity_regularized");
  CHECK_FALSE(regularized(s, 2).optimizer);
  CHECK_FALSE(regularized(s, 2).mixture_weight_initializer);
}

TEST_CASE("iterations are won by the average of adanet_loss, or by an evaluation with metric, objective and data") {
  const auto s = made(networks
                      + std::string{"[search.choose]\nby = \"evaluation\"\nmetric = \"accuracy\"\n"
                                    "objective = \"maximize\"\nsteps = 3\ndata = \"test\"\nbatch_size = 20\n"});
  REQUIRE(s.evaluation);
  CHECK(s.evaluation->evaluator.metric_name == "accuracy");
  CHECK(s.evaluation->evaluator.objective == objective::maximize);
  CHECK(s.evaluation->evaluator.steps == 3);
  CHECK(s.evaluation->data == data_split::test);
  CHECK(s.evaluation->batch_size == 20);
  const auto plain = made(networks + std::string{"[search.choose]\nby = \"evaluation\"\n"});
  CHECK(plain.evaluation->data == data_split::train);
  CHECK(plain.evaluation->evaluator.metric_name == "adanet_loss");
  CHECK_FALSE(made(networks + std::string{"[search.choose]\nby = \"average\"\n"}).evaluation);
  CHECK(trouble(networks + std::string{"[search.choose]\nmetric = \"accuracy\"\n"})
        == "my.toml:4: search.choose.metric belongs to evaluation, and search.choose.by is average");
}

TEST_CASE("the builders of a file are the networks of each iteration, with layers, complexity and an optimizer") {
  const std::string two =
      "[[search.builders]]\nname = \"wide\"\ncomplexity = 2\nsteps_max = 5\ninput_shape = [4]\n"
      "layers = [{type = \"dense\", units = 3, activation = \"relu\"}]\n"
      "[search.builders.optimizer]\nname = \"sgd\"\n[[search.builders]]\nname = \"plain\"\ncomplexity = 0\n";
  const auto s = made(two);
  CHECK(names_of(s) == names{"wide", "plain"});
  CHECK(names_of(s, {.iteration = 3}) == names{"wide", "plain"});
  const auto all = s.options.subnetwork_generator({});
  CHECK(all[0].steps_max == 5);
  CHECK(to_text(*all[0].optimizer) == to_text(gradient_descent{}));
  CHECK_FALSE(all[1].steps_max);
  CHECK(to_text(*all[1].optimizer) == to_text(adam{}));
  graph g;
  const features x{&g, {{"x", g.placeholder("x", dtype::float32, {g.unknown("batch"), 2, 2})}}};
  const auto wide = all[0].build(g, {.features = x, .labels = {nullptr, {}}, .logits_dimension = 10});
  CHECK_MESSAGE(g.status(), (g.status() ? "" : to_text(g.status().error())));
  CHECK(wide.last_layer.one().dims()[1].coefficient == 3);
  CHECK(wide.logits.one().dims()[1].coefficient == 10);
  CHECK(wide.complexity == 2);
  const auto plain = all[1].build(g, {.features = x, .labels = {nullptr, {}}, .logits_dimension = 10});
  CHECK(plain.last_layer.one().dims()[1].coefficient == 4);

  CHECK_FALSE(s.ends);  // The second one has no limit.
  CHECK_FALSE(made(two, {"search.max_iterations=2"}).ends);
  CHECK(made(two, {"search.max_iterations=2", "search.builders[1].steps_max=3"}).ends);
}

TEST_CASE("a layer of a builder that does not fit is told with its place in the file") {
  const auto s = made(
      "[[search.builders]]\nname = \"a\"\ncomplexity = 1\n[[search.builders.layers]]\ntype = \"max_pool\"\n");
  graph g;
  const features x{&g, {{"x", g.placeholder("x", dtype::float32, {g.unknown("batch"), 4})}}};
  s.options.subnetwork_generator({}).at(0).build(g, {.features = x, .labels = {nullptr, {}}, .logits_dimension = 2});
  REQUIRE_FALSE(g.status());
  CHECK_MESSAGE(g.status().error().message.starts_with("my.toml:5: search.builders[0].layers[0] (max_pool): "),
                g.status().error().message);
}

TEST_CASE("a wrong value of a search is told with its line, its key and what would be right") {
  const auto in_search = [](const std::string& line) { return trouble("[search]\n" + line + "\n" + networks); };
  CHECK(in_search("max_iterations = 0")
        == "my.toml:2: search.max_iterations must be a whole number of at least 1, or \"none\", not 0");
  CHECK(in_search("max_iteration_steps = \"many\"")
        == "my.toml:2: search.max_iteration_steps must be a whole number of at least 1, or \"none\", not 'many'");
  CHECK(in_search("adanet_loss_decay = 1")
        == "my.toml:2: search.adanet_loss_decay must be a 32-bit number in [0, 1), not 1");
  CHECK(in_search("on_candidate_not_finite = \"dorp\"")
        == "my.toml:2: search.on_candidate_not_finite must be one of fail, drop, not 'dorp'; did you mean drop?");
  CHECK(in_search("replay_indices = [1, -1]")
            .starts_with("my.toml:2: search.replay_indices must be a list of whole numbers of at least 0"));
  CHECK(in_search("cache_bytes_max = -1")
        == "my.toml:2: search.cache_bytes_max must be a whole number of at least 0, not -1");
  CHECK(in_search("strategies = [\"grow\", \"shrink\"]")
        == "my.toml:2: search.strategies must be a list of some of grow, solo, all, not grow,shrink");
  CHECK(in_search("strategies = [\"gro\"]").ends_with("not gro; did you mean grow?"));
  CHECK(in_search("strategies = []")
        == "my.toml:2: search.strategies must be a list of some of grow, solo, all, not an empty list");
  CHECK(in_search("strategies = [\"grow\", \"grow\"]") == "my.toml:2: search.strategies has 'grow' twice");
  CHECK(trouble("[search.generator]\nkind = \"simple_dn\"\n")
        == "my.toml:2: search.generator.kind must be one of simple_dnn, simple_cnn, linear, not 'simple_dn'; did you "
           "mean simple_dnn?");
  CHECK(trouble("[search.generator]\nlayer_size = 3\n")
        == "my.toml:2: search.generator.kind is missing: it must be one of simple_dnn, simple_cnn, linear");
  CHECK(trouble(networks + std::string{"layer_size = 0\n"})
        == "my.toml:3: search.generator.layer_size must be a whole number of at least 1, not 0");
  CHECK(trouble(networks + std::string{"filters = 3\n"})
        == "my.toml:3: search.generator.filters belongs to simple_cnn, and search.generator.kind is simple_dnn");
  CHECK(trouble(networks + std::string{"[search.generator.optimizer]\nname = \"sgd\"\nbeta1 = 0.5\n"})
            .starts_with("my.toml:5: search.generator.optimizer.beta1 belongs to adam, "));
  CHECK(trouble(networks + std::string{"[search.choose]\nobjective = \"least\"\n"})
        == "my.toml:4: search.choose.objective must be one of minimize, maximize, not 'least'");
}

TEST_CASE("a wrong ensembler or builder is told with its number in the list") {
  const auto ensemblers = [](const std::string& text) {
    return trouble(networks + ("[[search.ensemblers]]\nname = \"a\"\n[[search.ensemblers]]\n" + text));
  };
  CHECK(ensemblers("adanet_lambda = -1\n")
        == "my.toml:6: search.ensemblers[1].adanet_lambda must be a number of at least 0, not -1");
  CHECK(ensemblers("kind = \"mean\"\nuse_bias = true\n")
        == "my.toml:7: search.ensemblers[1].use_bias belongs to complexity_regularized, and search.ensemblers[1].kind "
           "is mean");
  CHECK(ensemblers("kind = \"mean\"\noptimizer = {rate = 1.0}\n")
        == "my.toml:7: search.ensemblers[1].optimizer.rate belongs to complexity_regularized, and "
           "search.ensemblers[1].kind is mean");
  CHECK(ensemblers("name = \"a\"\n")
        == "my.toml:6: search.ensemblers[1].name must differ from search.ensemblers[0].name: both are 'a'");
  CHECK(has(ensemblers("name = \"a b\"\n"), "'a b'"));
  CHECK(ensemblers("name = \"b\"\n[search.ensemblers.optimizer]\n")
            .starts_with("my.toml:7: search.ensemblers[1].optimizer.name must be one of "));
  CHECK(trouble("[[search.builders]]\nname = \"a\"\n")
        == "my.toml:2: search.builders[0].complexity is missing: it must be a number of at least 0");
  CHECK(trouble("[[search.builders]]\ncomplexity = 1\n")
        == "my.toml:2: search.builders[0].name is missing: it must be text");
  CHECK(trouble("[[search.builders]]\nname = \"a\"\ncomplexity = 1\nlayers = [{type = \"dense\"}]\n")
            .ends_with("search.builders[0].layers[0].units is missing: a layer of type dense needs it"));
  CHECK(trouble("[[search.builders]]\nname = \"a\"\ncomplexity = 1\n[[search.builders]]\nname = \"a\"\ncomplexity = "
                "1\n")
        == "my.toml:5: search.builders[1].name must differ from search.builders[0].name: both are 'a'");
  CHECK(trouble("[[search.builders]]\nname = \"a\"\ncomplexity = 1\n" + std::string{networks})
        == "my.toml:3: search.builders[0].complexity and search.generator.kind cannot both be given: a search has a "
           "generator or a list of builders");
}

TEST_CASE("an unknown key or table of a search is told with the nearest one, and with the numbers that were given") {
  CHECK(trouble("[search]\nmax_iteration = 3\n")
        == "my.toml:2: unknown key search.max_iteration; did you mean search.max_iterations?");
  CHECK(trouble("[search.generater]\nkind = \"linear\"\n")
        == "my.toml:2: unknown key search.generater.kind; did you mean search.generator.kind?");
  CHECK(trouble("[search.generater]\n") == "my.toml:1: unknown table search.generater; did you mean search.generator?");
  CHECK(trouble("[[search.ensemblers]]\n[[search.ensemblers]]\nadanet_lamda = 1\n").find("[0].kind must be one of ")
        != std::string::npos);
  CHECK(
      trouble("[[search.ensemblers]]\nname = \"a\"\n[[search.ensemblers]]\nadanet_lamda = 1\n")
      == "my.toml:4: unknown key search.ensemblers[1].adanet_lamda; did you mean search.ensemblers[1].adanet_lambda?");
  CHECK(
      trouble("[[search.builders]]\nname = \"a\"\nlayers = [{type = \"flatten\"}, {type = \"dense\", unit = 3}]\n")
      == "my.toml:3: unknown key search.builders[0].layers[1].unit; did you mean search.builders[0].layers[1].units?");
  CHECK(trouble(networks + std::string{"[search.generator.optimizer]\nrte = 1\n"})
        == "my.toml:4: unknown key search.generator.optimizer.rte; did you mean search.generator.optimizer.rate?");
}

TEST_CASE("what a search lacks, and what only a training has, is told") {
  CHECK(trouble("[search]\nforce_grow = true\n").starts_with("search.generator.kind is missing: nothing says which"));
  CHECK(trouble(networks + std::string{"[model]\ntype = \"linear_model\"\n"})
        == "my.toml:4: model.type belongs to troupe train: the networks of a search are those of [search.generator] or "
           "[[search.builders]]");
  CHECK(has(trouble(networks, {"optimizer.rate=0.5"}),
            "optimizer.rate belongs to troupe train: a search has "
            "[search.generator.optimizer]"));
  CHECK(has(trouble(networks, {"warm_start.freeze=true"}), "warm_start.freeze belongs to troupe train"));
  const std::string run = "[run]\nmodel_dir = \"none\"\n";
  CHECK(trouble_of_job(run + networks, job_purpose::searching).starts_with("head.type is missing: a search takes any"));
  CHECK(trouble_of_job(run + networks + head_of_ten, job_purpose::searching)
        == "run.max_steps is missing: nothing says when to end; give --max-steps N or --epochs N, or --max-iterations "
           "N with --max-iteration-steps N");
  CHECK(trouble_of_job(run + networks + head_of_ten, job_purpose::training)
        == "my.toml:4: search.generator.kind belongs to a search, which troupe search runs: a search has no [model] to "
           "train or to check");
  CHECK(trouble_of_job(run + "[model]\nhidden_units = [3]\n", job_purpose::searching)
        == "my.toml:4: there is no [search] to say what to search: a [model] is trained by troupe train, not by troupe "
           "search");
  CHECK(
      trouble_of_job(run, job_purpose::searching)
      == "there is no [search] to say what to search: give a --config with [search.generator] or [[search.builders]]");
  const std::string idx =
      "[input]\nformat = \"idx\"\nimages = \"i\"\nlabels = \"l\"\n[search]\nmax_iterations = "
      "1\nmax_iteration_steps = 1\n[search.choose]\nby = \"evaluation\"\ndata = \"test\"\n";
  CHECK(trouble_of_job(run + idx + networks + head_of_ten, job_purpose::searching)
            .starts_with("evaluate.images is missing"));
}

TEST_CASE("the example of a search is one, with the data, batches and evaluation that it names") {
  const auto file = read_config(TROUPE_SOURCE_ROOT "/examples/fashion_mnist_search.toml");
  REQUIRE_MESSAGE(file, (file ? "" : file.error().message));
  const auto given = settings::merge(*file, {}, {});
  REQUIRE_MESSAGE(given, (given ? "" : given.error().message));
  const auto setup = make_job_setup(*given, job_purpose::searching);
  REQUIRE_MESSAGE(setup, (setup ? "" : setup.error().message));
  REQUIRE(setup->search);
  CHECK(setup->search->options.max_iterations == 3);
  CHECK(setup->search->options.max_iteration_steps == 4690);
  CHECK(regularized(*setup->search).adanet_lambda == 0.005);
  CHECK(regularized(*setup->search).optimizer);
  CHECK(setup->input.batch_size == 128);
  CHECK(setup->evaluates());
  CHECK(make_searcher(*setup)->config.model_dir == "runs/fashion-mnist-search");
  const auto all = given->resolved();
  CHECK(all.at("search.generator.layer_size") == "128");
  CHECK(all.at("search.generator.dropout") == "0");
  CHECK(all.at("search.strategies") == "[grow]");
}

}  // namespace troupe::cli
