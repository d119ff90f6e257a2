#include "ensemble/objective.hpp"

#include "tests/support/refused.hpp"

#include <limits>

namespace troupe::test {

namespace {

using numbers = std::vector<double>;

/// The scalar weights with which an ensemble begins; `learned` is each inherited weight.
numbers initial_weights(size_t old_members, size_t new_members, bool warm_start = false, double learned = 0) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < old_members; ++i)
    kept.push_back(i);
  numbers weights;
  for (const auto& start : weight_starts(mixture_weight::scalar, kept, new_members, warm_start))
    weights.push_back(start.inherited ? learned : static_cast<double>(start.fill));
  return weights;
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
  near(initial_weights(0, 1), {1});
  near(initial_weights(1, 1), {.5, .5});
}

TEST_CASE("old members keep their learned weights, and new ones begin with their share of all") {
  near(initial_weights(2, 2, true, 1), {1, 1, .25, .25});
}

TEST_CASE("logits of rank 1 have a bias of one element") { CHECK(bias_size({100}) == 1); }

TEST_CASE("the bias of a matrix of logits has an element for each column") { CHECK(bias_size({100, 7}) == 7); }

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
