// The signatures that heads give to an export: those of TensorFlow 1.15's heads.
#include "models/model_spec.hpp"

#include <troupe/heads.hpp>

#include <doctest/doctest.h>

namespace troupe {

namespace {

using outputs = std::map<std::string, std::map<std::string, std::string>>;

/// The signatures of a head: for each output, the name of the prediction that it returns. A signature without outputs
/// has all predictions.
outputs offered_by(const head& h) {
  graph g;
  const auto spec = h.spec(
      g, {.mode = mode::predict, .logits = g.placeholder("logits", dtype::float32, {g.unknown("batch"), h.logits})});
  const auto valid = check(spec, g, mode::predict);
  REQUIRE_MESSAGE(valid, (valid ? "" : valid.error().message));
  outputs all;
  for (const auto& [signature, values] : spec.export_outputs) {
    all[signature];
    for (const auto& [name, value] : values)
      for (const auto& [prediction, of] : spec.predictions)
        if (of.node() == value.node())
          all[signature][name] = prediction;
    CHECK(all[signature].size() == values.size());
  }
  return all;
}

}  // namespace

TEST_CASE(
    "[EST-17] heads of classes classify, those of numbers regress, a binary head does both, and all predict by "
    "default") {
  CHECK(offered_by(binary_head{})
        == outputs{{"classification", {{"class_ids", "class_ids"}, {"scores", "probabilities"}}},
                   {"predict", {}},
                   {"regression", {{"outputs", "logistic"}}},
                   {"serving_default", {}}});
  CHECK(offered_by(multi_class_head{.classes = 3})
        == outputs{{"classification", {{"class_ids", "class_ids"}, {"scores", "probabilities"}}},
                   {"predict", {}},
                   {"serving_default", {}}});
  CHECK(offered_by(multi_label_head{.classes = 3})
        == outputs{{"classification", {{"scores", "probabilities"}}}, {"predict", {}}, {"serving_default", {}}});
  for (const head& numbers : std::vector<head>{regression_head{}, poisson_head{}})
    CHECK(offered_by(numbers)
          == outputs{{"predict", {}}, {"regression", {{"outputs", "predictions"}}}, {"serving_default", {}}});
}

TEST_CASE("[EST-17] a multi-head offers what each of its heads does, under the head's name") {
  const multi_head inner{.heads = {{.name = "size", .head = regression_head{}}}};
  const auto all = offered_by(
      multi_head{.heads = {{.name = "kind", .head = multi_class_head{.classes = 3}}, {.name = "more", .head = inner}}});
  CHECK(all.at("kind/classification")
        == std::map<std::string, std::string>{{"kind/class_ids", "kind/class_ids"},
                                              {"kind/scores", "kind/probabilities"}});
  CHECK(all.at("kind").size() == 3);
  CHECK(all.at("kind/predict") == all.at("kind"));
  CHECK(all.at("more/size/regression")
        == std::map<std::string, std::string>{{"more/size/outputs", "more/size/predictions"}});
  CHECK(all.at("more") == std::map<std::string, std::string>{{"more/size/predictions", "more/size/predictions"}});
  CHECK(all.at("serving_default").empty());
  CHECK(all.at("predict").empty());
}

TEST_CASE("a head of a multi-head that is called as a signature does not take its place") {
  const auto all = offered_by(multi_head{.heads = {{.name = "serving_default", .head = regression_head{}},
                                                   {.name = "predict", .head = regression_head{}}}});
  CHECK(all.at("serving_default").empty());
  CHECK(all.at("predict").empty());
  CHECK(all.at("predict/predict").size() == 1);
}

TEST_CASE("a head whose own function offers nothing is called by its name all the same") {
  head plain;
  plain.name = "plain";
  plain.logits = 1;
  plain.build = [](graph&, const head_spec_options& o, std::source_location) {
    return model_spec{.predictions = {{"x", o.logits}}};
  };
  CHECK(offered_by(multi_head{.heads = {{.name = "mine", .head = plain}}}).at("mine")
        == std::map<std::string, std::string>{{"mine/x", "mine/x"}});
}

}  // namespace troupe
