#include "cli/configuration/head_setup.hpp"

#include "cli/configuration/config_file.hpp"
#include "cli/configuration/model_fields.hpp"
#include "cli/configuration/model_setup.hpp"

#include <doctest/doctest.h>

#include <sstream>

namespace troupe::cli {

namespace {

expected<settings> merged(const std::string& text, std::initializer_list<const char*> more = {}) {
  std::istringstream stream{text};
  const auto file = parse_config(stream, "my.toml");
  REQUIRE(file);
  std::vector<assignment> set;
  for (const auto* key : more)
    set.push_back(*parse_assignment(key));
  return settings::merge(*file, set, {});
}

expected<head> made(const std::string& text, std::initializer_list<const char*> more = {}) {
  return merged("[head]\n" + text, more).and_then([](const settings& s) { return make_head(s); });
}

/// The error for a head with these lines. The first of them is line 2 of the file.
std::string trouble(const std::string& text, std::initializer_list<const char*> more = {}) {
  const auto h = made(text, more);
  REQUIRE_FALSE(h);
  CHECK(h.error().category == errc::invalid_argument);
  return h.error().message;
}

/// The error for a model with these lines.
std::string trouble_of_model(const std::string& text, std::initializer_list<const char*> more = {}) {
  const auto m = merged(text, more).and_then([](const settings& s) { return make_model(s); });
  REQUIRE_FALSE(m);
  return m.error().message;
}

/// The names of the metrics of a head, for labels of shape `label`.
std::vector<std::string> metrics_of(const head& h, const symbol_shape& label = {}) {
  graph g;
  symbol_shape dims = label;
  dims.insert(dims.begin(), g.unknown("batch"));
  const symbol logits = g.placeholder("logits", dtype::float32, {g.unknown("batch"), h.logits}),
               y = g.placeholder("label", dtype::int32, dims);
  const auto spec = h.spec(g, {.mode = mode::evaluate, .logits = logits, .labels = labels{&g, {{"label", y}}}});
  CHECK_MESSAGE(g.status(), (g.status() ? "" : to_text(g.status().error())));
  std::vector<std::string> names;
  for (const auto& [name, metric] : spec.metrics)
    names.push_back(name);
  return names;
}

/// True: evaluations of a model of three classes have a confusion matrix.
bool has_confusion_matrix(const model& m) {
  graph g;
  const symbol x = g.placeholder("x", dtype::float32, {g.unknown("batch"), 4}),
               y = g.placeholder("y", dtype::int32, {g.unknown("batch")});
  return m.build(g, features{&g, {{"x", x}}}, labels{&g, {{"y", y}}}, mode::evaluate)
      .metrics.contains("confusion_matrix");
}

}  // namespace

TEST_CASE("every field of a head reaches it from its key") {
  const auto binary = made(
      "type = \"binary_head\"\nthresholds = [0.25]\nvocabulary = [\"no\", \"yes\"]\nclass_weights = [1, "
      "3]\nlabel_smoothing = 0.1\n"
      "loss_reduction = \"sum\"\nweight_feature = \"w\"\n");
  REQUIRE_MESSAGE(binary, (binary ? "" : binary.error().message));
  CHECK(binary->name == "binary_head");
  CHECK(binary->texts.at("classes").words == std::vector<std::string>{"no", "yes"});
  CHECK(binary->weight_features == std::vector<std::string>{"w"});
  const auto several = made("type = \"multi_label_head\"\nclasses = 3\nclass_metrics = [2]\n",
                            {"head.thresholds=0.5,0.75"});
  REQUIRE_MESSAGE(several, (several ? "" : several.error().message));
  const auto names = metrics_of(*several, {3});
  for (const char* name : {"auc/class2", "accuracy/positive_threshold_0.75"})
    CHECK_MESSAGE(std::count(names.begin(), names.end(), name) == 1, name);
  CHECK(made("type = \"multi_class_head\"\nvocabulary = [\"a\", \"b\", \"c\"]\n")->logits == 3);
  for (const std::string head : {"type = \"multi_class_head\"\nclasses = 3\n", "type = \"binary_head\"\n"}) {
    const auto counted = metrics_of(*made(head + "confusion_matrix = true\n"));
    CHECK(std::count(counted.begin(), counted.end(), "confusion_matrix") == 1);
  }
  CHECK(made("type = \"regression_head\"\nlabel_dimension = 4\n")->logits == 4);
  CHECK(made("type = \"poisson_head\"\nfull_loss = false\n")->name == "poisson_head");
}

TEST_CASE("a multi-head is a list of heads, in the file's order, each with its weight and its label") {
  const auto h = made(
      "type = \"multi_head\"\n[[head.heads]]\nname = \"kind\"\ntype = \"multi_class_head\"\nclasses = 4\nlabel = "
      "\"label\"\n"
      "[[head.heads]]\nname = \"size\"\ntype = \"regression_head\"\nweight = 0.5\n",
      {"head.heads[1].label=label"});
  REQUIRE_MESSAGE(h, (h ? "" : h.error().message));
  CHECK(h->name == "multi_head");
  CHECK(h->logits == 5);
  CHECK(trouble("type = \"multi_head\"\n") == "my.toml:2: head: multi_head: heads must be at least one, not none");
  CHECK(trouble("type = \"multi_head\"\n[[head.heads]]\nname = \"a\"\n")
            .starts_with("head.heads[0].type is missing: it must be one of binary_head, "));
  CHECK(trouble("type = \"multi_head\"\n[[head.heads]]\ntype = \"binary_head\"\n") == "my.toml:2: head: "
                                                                                      "multi_head: heads[0].name "
                                                                                      "must be a word without a "
                                                                                      "slash, not ''");
  CHECK(trouble("type = \"multi_head\"\n[[head.heads]]\nname = \"a\"\ntype = \"binary_head\"\nclasses = 3\n")
        == "my.toml:6: head.heads[0].classes belongs to multi_class_head, multi_label_head, and head.heads[0].type "
           "is binary_head");
  CHECK(trouble("type = \"multi_head\"\nclasses = 3\n[[head.heads]]\nname = \"a\"\ntype = \"binary_head\"\n")
        == "my.toml:3: head.classes belongs to multi_class_head, multi_label_head, and head.type is multi_head");
  CHECK(trouble("type = \"binary_head\"\n[[head.heads]]\nname = \"a\"\n")
        == "my.toml:4: head.heads[0].name belongs to multi_head, and head.type is binary_head");
}

TEST_CASE("a wrong type, key or value of a head is told with its line and what would be right") {
  CHECK(trouble("type = \"binary\"\n")
        == "my.toml:2: head.type must be one of binary_head, multi_class_head, multi_label_head, regression_head, "
           "poisson_head, multi_head, not 'binary'");
  CHECK(trouble("classes = 3\n").starts_with("head.type is missing: it must be one of binary_head, "));
  CHECK(trouble("type = \"binary_head\"\nthreshold = [0.5]\n")
        == "my.toml:3: unknown key head.threshold; did you mean head.thresholds?");
  CHECK(trouble("type = \"binary_head\"\nthresholds = [0.5, 2]\n")
            .starts_with("my.toml:3: head.thresholds must be a list of numbers in [0, 1]"));
  CHECK(trouble("type = \"binary_head\"\nloss_reduction = \"none\"\n")
            .starts_with("my.toml:3: head.loss_reduction must be one of sum_over_batch_size, mean, "));
  CHECK(trouble("type = \"regression_head\"\nthresholds = [0.5]\n")
        == "my.toml:3: head.thresholds belongs to binary_head, multi_label_head, and head.type is regression_head");
  CHECK(trouble("type = \"binary_head\"\nclass_weights = [1, 2, 3]\n")
        == "my.toml:2: head: binary_head: class_weights must be one for each of the 2 classes, not 3");
  CHECK(trouble("type = \"multi_class_head\"\n")
        == "my.toml:2: head: multi_class_head: classes must be at least 2, not 0");
  // The flag changes the type, which drops the thresholds.
  CHECK(made("type = \"binary_head\"\nthresholds = [0.5]\n", {"head.type=regression_head"}));
}

TEST_CASE("a model takes the head of the file, a classifier has its own, and every type there is can be named") {
  for (const auto& type : find_key("model.type")->choices) {
    CAPTURE(type);
    const bool listed = type.starts_with("sequential"), hidden = type.find("dnn") != std::string::npos,
               own = type.ends_with("classifier");
    std::string text = "[model]\ntype = \"" + type + "\"\n" + (hidden ? "hidden_units = [4]\n" : "")
                       + (listed ? "layers = [{type = \"flatten\"}]\n" : "");
    if (own)
      CHECK(trouble_of_model(text + "classes = 3\n[head]\ntype = \"binary_head\"\n")
                .ends_with("head.type belongs to dnn_model, linear_model, dnn_linear_combined_model, baseline_model, "
                           "sequential_model, and model.type is "
                           + type));
    else
      CHECK(trouble_of_model(text).starts_with("head.type is missing: a " + type + " takes any head"));
    text += own ? "classes = 3\n" : "[head]\ntype = \"binary_head\"\n";
    const auto m = make_model(*merged(text));
    CHECK_MESSAGE(m, (m ? "" : m.error().message));
    CHECK(m->name == type);
    if (own)
      CHECK(has_confusion_matrix(*make_model(*merged(text, {"model.confusion_matrix=true"}))));
  }
}

TEST_CASE("a model has the optimizer that it has in C++, unless keys say otherwise") {
  const auto by = [](const std::string& type, std::initializer_list<const char*> more = {}) {
    const auto m = make_model(*merged("[model]\ntype = \"" + type + "\"\n"
                                          + (type.find("dnn") == 0 ? "hidden_units = [4]\n" : "")
                                          + "[head]\ntype = \"regression_head\"\n",
                                      more));
    REQUIRE_MESSAGE(m, (m ? "" : m.error().message));
    graph g;
    const features x{&g, {{"x", g.placeholder("x", dtype::float32, {g.unknown("batch"), 2})}}};
    return to_text(
        *m->build(g, x, labels{&g, {{"y", g.placeholder("y", dtype::float32, {g.unknown("batch")})}}}, mode::train)
             .optimizer);
  };
  CHECK(by("dnn_model") == to_text(adam{}));
  CHECK(by("baseline_model") == to_text(ftrl{.rate = 0.3f}));
  CHECK(by("baseline_model", {"optimizer.l1=0.5"}) == to_text(ftrl{.rate = 0.3f, .l1 = 0.5f}));
  CHECK(by("baseline_model", {"optimizer.name=ftrl"}) == to_text(ftrl{}));
  CHECK(by("dnn_linear_combined_model")
            .starts_with("adagrad(rate = 0.001, initial_accumulator = 0.1), group(\"linear/*\", ftrl(rate = 0.005, "));
  CHECK(by("dnn_linear_combined_model", {"optimizer.groups[0].prefix=linear/", "optimizer.groups[0].name=adam"})
            .starts_with("adagrad(rate = 0.001, initial_accumulator = 0.1), group(\"linear/*\", adam("));
}

}  // namespace troupe::cli
