#include "ensemble/objective.hpp"

#include "tests/support/refused.hpp"

#include <limits>

namespace troupe::test {

namespace {

using numbers = std::vector<double>;

/// The norms of the scalar weights with which an ensemble begins; `learned` is that of each inherited weight.
numbers initial_norms(size_t old_members, size_t new_members, bool warm_start = false, double learned = 0) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < old_members; ++i)
    kept.push_back(i);
  numbers norms;
  for (const auto& start : weight_starts(mixture_weight::scalar, kept, new_members, warm_start)) {
    const std::vector<float> weight{start.inherited ? static_cast<float>(learned) : start.fill};
    norms.push_back(l1_norm(weight));
  }
  return norms;
}

std::vector<weighted_member> members_of_norms(const numbers& norms, double complexity) {
  std::vector<weighted_member> members;
  for (const double norm : norms)
    members.push_back({complexity, norm});
  return members;
}

/// The regularization with lambda .1 of members of complexity 2, for one head or several with the same weights.
double penalty(const numbers& norms, size_t heads = 1) {
  const std::vector<std::vector<weighted_member>> all(heads, members_of_norms(norms, 2));
  return complexity_regularization({.lambda = .1}, all);
}

member_shapes member(std::string name, shape last_layer, shape logits) { return {std::move(name), last_layer, logits}; }

void near(const numbers& found, const numbers& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == doctest::Approx(wanted[i]));
}

const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("scalar weights begin as a uniform average of old and new members") {
  near(initial_norms(0, 1), {1});
  near(norm_fractions(initial_norms(0, 1)), {1});
  near(initial_norms(1, 1), {.5, .5});
}

TEST_CASE("members of one complexity cost the same, however many there are, and each head adds") {
  near(initial_norms(2, 1), {1. / 3, 1. / 3, 1. / 3});
  near(initial_norms(2, 2), {.25, .25, .25, .25});
  for (const auto& [old_members, new_members] : {std::pair{1, 1}, std::pair{2, 1}, std::pair{2, 2}}) {
    const auto norms = initial_norms(static_cast<size_t>(old_members), static_cast<size_t>(new_members));
    CHECK(penalty(norms) == doctest::Approx(.2));
    CHECK(penalty(norms, 2) == doctest::Approx(.4));
  }
}

TEST_CASE("old members keep their learned weights, and new ones begin with their share of all") {
  const auto norms = initial_norms(2, 2, true, 1);
  near(norms, {1, 1, .25, .25});
  near(norm_fractions(norms), {.4, .4, .1, .1});
  CHECK(penalty(norms) == doctest::Approx(.5));
  CHECK(penalty(norms, 2) == doctest::Approx(1));
}

TEST_CASE("logits of rank 1 have a bias of one element") { CHECK(bias_size({100}) == 1); }

TEST_CASE("the bias of a matrix of logits has an element for each column") { CHECK(bias_size({100, 7}) == 7); }

TEST_CASE("the norm of a weight is the sum of absolute values of all elements") {
  CHECK(l1_norm(std::vector<float>{}) == 0);
  CHECK(l1_norm(std::vector<float>{-1, 2, -.5f}) == 3.5);
}

TEST_CASE("lambda weighs complexities, beta weighs members alone, and without both there is no penalty") {
  const std::vector<weighted_member> two{{2, .5}, {3, 1}};
  CHECK(complexity_regularization({}, two) == 0);
  CHECK(complexity_regularization({.beta = .1}, two) == doctest::Approx(.15));
  CHECK(complexity_regularization({.lambda = .1}, two) == doctest::Approx(.4));
  CHECK(complexity_regularization({.lambda = .1, .beta = .1}, two) == doctest::Approx(.55));
}

TEST_CASE("without lambda a complexity may be anything, and without both a norm as well") {
  CHECK(complexity_regularization({.beta = .1}, std::vector<weighted_member>{{infinity, 1}, {nan, 1}})
        == doctest::Approx(.2));
  CHECK(complexity_regularization({}, std::vector<weighted_member>{{nan, infinity}}) == 0);
}

TEST_CASE("weights that are all 0 have no share") {
  near(norm_fractions(numbers{0, 0}), {0, 0});
  CHECK(norm_fractions(numbers{}).empty());
}

TEST_CASE("a weight of the penalty or a complexity that is negative or not finite is refused with its name and value") {
  CHECK(validate(complexity_weights{.lambda = .1, .beta = 0}));
  refused(validate(complexity_weights{.lambda = -.5}), errc::invalid_argument,
          "adanet_lambda must be finite and at least 0, not -0.5");
  refused(validate(complexity_weights{.beta = infinity}), errc::invalid_argument, "adanet_beta must be finite");
  CHECK(check_complexity("dnn", 0));
  refused(check_complexity("dnn", -1), errc::invalid_argument, "the builder 'dnn' reports the complexity -1");
  refused(check_complexity("dnn", nan), errc::invalid_argument, "the builder 'dnn' reports the complexity nan");
}

TEST_CASE("weights are a number, a number for each column, or a matrix from the last layer to the logits") {
  const auto m = member("t0_dnn", {32, 64}, {32, 10});
  CHECK(mixture_weight_shape(mixture_weight::scalar, m) == shape{});
  CHECK(mixture_weight_shape(mixture_weight::vector, m) == shape{10});
  CHECK(mixture_weight_shape(mixture_weight::matrix, m) == shape{64, 10});
  CHECK(mixture_weight_shape(mixture_weight::matrix, member("t0_rnn", {32, 5, 64}, {32, 5, 10})) == shape{64, 10});
  CHECK(mixture_weight_shape(mixture_weight::matrix, member("t0_dnn", {32, 64}, {32})) == shape{64, 1});
}

TEST_CASE("vectors begin as a uniform average, matrices with 0, and a warm start changes old members only") {
  const std::vector<size_t> kept{0, 2};
  using starts = std::vector<weight_start>;
  CHECK(weight_starts(mixture_weight::vector, kept, 2, false) == starts(4, weight_start{.fill = .25f}));
  CHECK(weight_starts(mixture_weight::matrix, kept, 1, false) == starts(3, weight_start{}));
  CHECK(weight_starts(mixture_weight::matrix, kept, 1, true)
        == starts{{.inherited = 0}, {.inherited = 2}, weight_start{}});
}

TEST_CASE("a bias is inherited only by a warm start that keeps all members, and pruning is said") {
  CHECK(bias_start_of(2, 2, true).inherited);
  CHECK_FALSE(bias_start_of(2, 2, false).inherited);
  CHECK_FALSE(bias_start_of(0, 0, true).inherited);
  const auto pruned = bias_start_of(3, 2, true);
  CHECK_FALSE(pruned.inherited);
  CHECK(has(pruned.remark, "begins with 0, because the ensemble keeps 2 of the 3 members"));
  for (const auto& silent : {bias_start_of(3, 3, true), bias_start_of(3, 2, false), bias_start_of(0, 0, true)})
    CHECK(silent.remark.empty());
}

TEST_CASE("members whose weighted logits cannot be added are refused with both shapes (QUIRK-11)") {
  using list = std::vector<member_shapes>;
  const auto a = member("t0_a", {32, 4}, {32, 10}), wide = member("t0_wide", {32, 9}, {32, 10});
  for (const auto type : {mixture_weight::scalar, mixture_weight::vector, mixture_weight::matrix}) {
    CHECK(check_members(type, list{a, wide}));
    refused(check_members(type, list{a, member("t0_b", {32, 4}, {32, 1})}), errc::invalid_argument,
            "those of t0_a are [32, 10], those of t0_b are [32, 1]");
  }
  refused(check_members(mixture_weight::scalar, list{member("t0_a", {}, {})}), errc::invalid_argument,
          "t0_a has logits of shape []");
  refused(check_members(mixture_weight::vector, list{member("t0_a", {2, 3, 4}, {2, 3, 4})}), errc::unimplemented,
          "t0_a has logits of shape [2, 3, 4]: scalar and vector weights support a rank of at most 2");
}

TEST_CASE("a matrix takes a last layer of rank 2 or 3, and the same for all members") {
  using list = std::vector<member_shapes>;
  const auto flat = member("t0_flat", {2, 8}, {2, 4}), sequence = member("t0_rnn", {2, 3, 8}, {2, 3, 4});
  CHECK(check_members(mixture_weight::matrix, list{sequence, sequence}));
  refused(check_members(mixture_weight::matrix, list{flat, sequence}), errc::invalid_argument,
          "those of t0_flat are [2, 4], those of t0_rnn are [2, 3, 4]");
  refused(check_members(mixture_weight::matrix, list{member("t0_deep", {2, 3, 4, 5}, {2, 4})}), errc::unimplemented,
          "t0_deep has a last layer of shape [2, 3, 4, 5]: matrix weights support a rank of at most 3");
  refused(check_members(mixture_weight::matrix, list{member("t0_thin", {2}, {2, 4})}), errc::invalid_argument,
          "t0_thin has a last layer of shape [2]: matrix weights need a rank of at least 2");
}

}  // namespace troupe::test
