#include "ensemble/iteration_specs.hpp"

#include "tests/support/refused.hpp"

namespace troupe::test {

namespace {

const std::vector<subnetwork_spec> two_subnetworks{{"linear"}, {"dnn"}};
const previous_ensemble first_winner{"t0_linear_grow_mean", 0, {"linear_grow", "mean", {{0, "linear"}}, {0}, 0, 100}};

std::vector<std::string> names_of(const expected<iteration_specs>& specs) {
  REQUIRE_MESSAGE(specs, specs.error().message);
  std::vector<std::string> all;
  for (const auto& candidate : specs->candidates)
    all.push_back(candidate.spec);
  return all;
}

}  // namespace

TEST_CASE("each ensembler makes an ensemble of each candidate, all of the first ensembler first") {
  CHECK(names_of(specs_of(0, two_subnetworks, {}, {strategy::grow(), strategy::all()}, {"mean", "learned"}))
        == std::vector<std::string>{"t0_linear_grow_mean", "t0_dnn_grow_mean", "t0_all_mean", "t0_linear_grow_learned",
                                    "t0_dnn_grow_learned", "t0_all_learned"});
}

TEST_CASE("the previous ensemble is candidate 0, unchanged, and kept members come before new ones") {
  const auto specs = specs_of(1, two_subnetworks, first_winner, {strategy::all()}, {"mean"});
  CHECK(names_of(specs) == std::vector<std::string>{"t0_linear_grow_mean", "t1_all_mean"});
  CHECK(specs->candidates[0].recipe == first_winner.recipe);
  CHECK(specs->candidates[1].recipe.candidate == "all");
  CHECK(specs->candidates[1].recipe.ensembler == "mean");
  CHECK(specs->candidates[1].recipe.members == std::vector<ensemble_member>{{0, "linear"}, {1, "linear"}, {1, "dnn"}});
}

TEST_CASE("a subnetwork is read by the candidates that have it as a new member, not by those that keep its namesake") {
  const auto specs = specs_of(1, two_subnetworks, first_winner, {strategy::grow(), strategy::all()}, {"mean"});
  REQUIRE(specs);
  CHECK(readers_of(*specs, 1, "linear") == std::vector<size_t>{1, 3});
  CHECK(readers_of(*specs, 1, "dnn") == std::vector<size_t>{2, 3});
  CHECK(readers_of(*specs, 1, "cnn").empty());
}

TEST_CASE("a spec whose name lies in the folder of another is refused, with both names") {
  refused(specs_of(0, {{"a"}, {"a.b"}, {"a/b"}}, {}, {strategy::grow()}, {"mean"}), errc::invalid_argument,
          "the spec 't0_a/b' of iteration 0 would lie in the folder of 't0_a', and its metrics among those");
  CHECK(names_of(specs_of(0, {{"n/a"}, {"n/b"}, {"n/a.b"}}, {}, {strategy::grow()}, {"mean"})).size() == 3);
}

TEST_CASE(
    "specs of one name are refused: of two ensembles, of an ensemble and a subnetwork, of a builder and the previous "
    "ensemble") {
  refused(specs_of(0, two_subnetworks, {}, {strategy::grow()}, {"mean", "mean"}), errc::invalid_argument,
          "two specs of iteration 0 have the name 't0_linear_grow_mean'");
  refused(specs_of(0, {{"linear"}, {"linear_grow_mean"}}, {}, {strategy::grow()}, {"mean"}), errc::invalid_argument,
          "two specs of iteration 0 have the name 't0_linear_grow_mean'");
  refused(specs_of(1, {{"t0_linear_grow_mean"}}, first_winner, {strategy::grow()}, {"mean"}), errc::invalid_argument,
          "the builder 't0_linear_grow_mean' has the name of the previous ensemble");
}

TEST_CASE("an iteration without ensemblers, or with one of an impossible name, is refused") {
  refused(specs_of(0, two_subnetworks, {}, {strategy::grow()}, {}), errc::invalid_argument, "there is no ensembler");
  refused(specs_of(0, two_subnetworks, {}, {strategy::grow()}, {"a b"}), errc::invalid_argument, "the ensembler 'a b'");
  refused(specs_of(0, {}, {}, {strategy::grow()}, {"mean"}), errc::invalid_argument, "no builders");
}

}  // namespace troupe::test
