#include "ensemble/strategies.hpp"

#include "tests/support/refused.hpp"

#include <stdexcept>

namespace troupe::test {

namespace {

using builder_list = std::vector<std::string>;
using member_list = std::vector<ensemble_member>;
using proposed_list = std::vector<ensemble_candidate>;

const builder_list linear_and_dnn{"linear", "dnn"};
const member_list old_members{{0, "linear"}, {1, "dnn"}};

proposed_list proposed(const std::vector<strategy>& strategies, const member_list& previous) {
  const auto all = propose(strategies, linear_and_dnn, previous);
  REQUIRE_MESSAGE(all, all.error().message);
  return *all;
}

/// A strategy that returns this.
strategy returning(proposed_list all) {
  return strategy::custom("mine", [all = std::move(all)](const builder_list&, const member_list&) { return all; });
}

void refused_proposal(const proposed_list& all, const std::string& names) {
  refused(propose({returning(all)}, linear_and_dnn, old_members), errc::invalid_argument, names);
}

}  // namespace

TEST_CASE("[ADA-22.5 strategies] each strategy proposes the candidates of the table, without a previous ensemble") {
  CHECK(proposed({strategy::grow()}, {}) == proposed_list{{"linear_grow", {"linear"}, {}}, {"dnn_grow", {"dnn"}, {}}});
  CHECK(proposed({strategy::solo()}, {}) == proposed_list{{"linear_solo", {"linear"}, {}}, {"dnn_solo", {"dnn"}, {}}});
  CHECK(proposed({strategy::all()}, {}) == proposed_list{{"all", linear_and_dnn, {}}});
}

TEST_CASE(
    "[ADA-22.5 strategies] grow and all keep the previous ensemble, solo drops it, and a custom one may prune it") {
  CHECK(proposed({strategy::grow()}, old_members)
        == proposed_list{{"linear_grow", {"linear"}, old_members}, {"dnn_grow", {"dnn"}, old_members}});
  CHECK(proposed({strategy::solo()}, old_members)
        == proposed_list{{"linear_solo", {"linear"}, {}}, {"dnn_solo", {"dnn"}, {}}});
  CHECK(proposed({strategy::all()}, old_members) == proposed_list{{"all", linear_and_dnn, old_members}});
  CHECK(proposed({returning({{"newest", {"dnn"}, {{1, "dnn"}}}})}, old_members)
        == proposed_list{{"newest", {"dnn"}, {{1, "dnn"}}}});
}

TEST_CASE("candidates of several strategies follow one another in the order of the strategies") {
  const auto all = proposed({strategy::all(), strategy::grow(), strategy::solo()}, old_members);
  builder_list order;
  for (const auto& candidate : all)
    order.push_back(candidate.name);
  CHECK(order == builder_list{"all", "linear_grow", "dnn_grow", "linear_solo", "dnn_solo"});
}

TEST_CASE("kept members have the order of the previous ensemble, whatever order a strategy names them in") {
  const auto all = proposed({returning({{"turned", {}, {{1, "dnn"}, {0, "linear"}}}})}, old_members);
  CHECK(all[0].kept == old_members);
}

TEST_CASE("a custom strategy sees the builders and the members of the previous ensemble") {
  builder_list seen;
  member_list seen_members;
  const auto look = [&](const builder_list& builders, const member_list& previous) {
    seen = builders;
    seen_members = previous;
    return proposed_list{{"x", builders, {}}};
  };
  proposed({strategy::custom("look", look)}, old_members);
  CHECK(seen == linear_and_dnn);
  CHECK(seen_members == old_members);
}

TEST_CASE("builders that cannot be told apart, and their absence, are refused") {
  const auto with = [](const builder_list& builders) { return propose({strategy::grow()}, builders, {}); };
  refused(with({}), errc::invalid_argument, "the generator returned no builders");
  refused(with({"a", "b", "a"}), errc::invalid_argument, "two builders have the name 'a'");
  refused(with({"a", "../b"}), errc::invalid_argument, "the builder '../b' has a name with an empty part, '.' or '..'");
  refused(with({"previous_ensemble"}), errc::invalid_argument, "reports use this one for the previous ensemble");
  refused(propose({}, linear_and_dnn, {}), errc::invalid_argument, "there is no strategy");
}

TEST_CASE("what a custom strategy may not propose is refused with strategy, candidate and name") {
  refused_proposal({}, "the strategies propose no candidates");
  refused_proposal({{"x", {}, {}}}, "the candidate 'x' of the strategy 'mine' has no members");
  refused_proposal({{"x", {"cnn"}, {}}},
                   "the candidate 'x' of the strategy 'mine' has the unknown builder 'cnn'; there are linear, dnn");
  refused_proposal({{"x", {"dnn"}, {{0, "dnn"}}}},
                   "keeps 'dnn' of iteration 0, which the previous ensemble does not have");
  refused_proposal({{"x", {"dnn", "dnn"}, {}}}, "has the builder 'dnn' twice");
  refused_proposal({{"x", {}, {{1, "dnn"}, {1, "dnn"}}}}, "keeps 'dnn' of iteration 1 twice");
  refused_proposal({{"a b", {"dnn"}, {}}}, "a candidate of the strategy 'mine' 'a b' has a name with characters");
}

TEST_CASE("two candidates of one name are refused, also of two strategies") {
  refused_proposal({{"x", {"dnn"}, {}}, {"x", {"linear"}, {}}}, "two candidates have the name 'x'");
  refused(propose({strategy::grow(), strategy::grow()}, linear_and_dnn, {}), errc::invalid_argument,
          "two candidates have the name 'linear_grow', the second one of the strategy 'grow'");
}

TEST_CASE("a custom strategy that throws is an error that names it") {
  const auto thrower = [](const builder_list&, const member_list&) -> proposed_list { throw std::runtime_error{"no"}; };
  refused(propose({strategy::custom("mine", thrower)}, linear_and_dnn, {}), errc::state,
          "an exception left the strategy 'mine': no");
  const auto odd = [](const builder_list&, const member_list&) -> proposed_list { throw 7; };
  refused(propose({strategy::custom("mine", odd)}, linear_and_dnn, {}), errc::state,
          "an exception left the strategy 'mine'");
  refused(propose({strategy::custom("mine", {})}, linear_and_dnn, {}), errc::invalid_argument,
          "'mine' has no function");
}

TEST_CASE("a past iteration is proposed again with the stored builders only") {
  const architecture stored{.candidate = "all", .members = {{0, "linear"}, {1, "dnn"}, {2, "cnn"}}, .iteration = 2};
  const auto again = propose_again({strategy::all()}, stored, 2, {"rnn", "cnn"}, old_members);
  REQUIRE(again);
  CHECK(*again == ensemble_candidate{"all", {"cnn"}, old_members});
}

TEST_CASE("a builder or a candidate that is not made again is refused, and says who is not deterministic") {
  const architecture stored{.candidate = "dnn_grow", .members = {{0, "linear"}, {1, "dnn"}}, .iteration = 1};
  const member_list one{{0, "linear"}};
  refused(propose_again({strategy::grow()}, stored, 1, {"linear", "cnn"}, one), errc::failed_precondition,
          "iteration 1 has trained the builder 'dnn', which the generator no longer returns: it returns linear, cnn");
  refused(propose_again({strategy::solo()}, stored, 1, linear_and_dnn, one), errc::failed_precondition,
          "the candidate 'dnn_grow' of iteration 1 with the same members: a strategy is not deterministic");
  const auto other_members = returning({{"dnn_grow", {"dnn"}, {}}});
  refused(propose_again({other_members}, stored, 1, linear_and_dnn, one), errc::failed_precondition, "'dnn_grow'");
}

}  // namespace troupe::test
