// The objective of AdaNet and the mixture weights of the complexity-regularized ensembler. Pure functions of numbers.
//
//   F(w) = loss of (bias + sum_k w_k h_k) + sum_k (lambda r_k + beta) |w_k|
//
// w_k is the mixture weight of member k, h_k its logits (for matrices, its last layer), r_k its complexity, |w_k| the
// sum of the absolute values of all elements. The second term is the complexity regularization. Cortes et al., AdaNet:
// Adaptive Structural Learning of Artificial Neural Networks, 2017, equation (4).
#pragma once

#include <troupe/error.hpp>
#include <troupe/search/ensembler.hpp>

namespace troupe {

// -- complexity regularization ---------------------------------------------------------

struct complexity_weights {
  double lambda = 0;  ///< adanet_lambda
  double beta = 0;    ///< adanet_beta
};

/// Error: invalid_argument naming the value, which must be finite and at least 0.
expected<void> validate(const complexity_weights& weights);
/// Checks the complexity that a builder reports. Error: invalid_argument naming the builder and the value, which must
/// be finite and at least 0.
expected<void> check_complexity(std::string_view builder, double complexity);

// -- mixture weights -------------------------------------------------------------------

/// The shapes of a member's outputs for one head. The first axis is the batch.
struct member_shapes {
  std::string name = {};  ///< The spec of the member.
  shape last_layer = {};
  shape logits = {};
};
/// The shape of a member's weight: [], [logits size] or [last layer's size, logits size].
shape mixture_weight_shape(mixture_weight type, const member_shapes& member);
/// Whether the weighted logits of the members can be added. Errors name the members and their shapes: invalid_argument
/// if they differ in shape, for logits without a batch, and for matrices on a last layer of rank 1; unimplemented for
/// scalars and vectors on logits of rank above 2, and for matrices on a last layer of rank above 3.
expected<void> check_members(mixture_weight type, std::span<const member_shapes> members);

/// What a mixture weight begins with.
struct weight_start {
  std::optional<size_t> inherited = {};  ///< The learned weight of this member of the previous ensemble.
  float fill = 0;                        ///< The value of all elements otherwise.
  friend bool operator==(const weight_start&, const weight_start&) = default;
};
/// The weights of an ensemble of kept members and `new_members`, in this order. `kept` has the index of each kept
/// member in the previous ensemble. Scalars and vectors begin with 1 / (number of all members), matrices with 0. With a
/// warm start, kept members keep their learned weights.
std::vector<weight_start> weight_starts(mixture_weight type, std::span<const size_t> kept, size_t new_members,
                                        bool warm_start);

/// What a bias begins with.
struct bias_start {
  bool inherited = false;   ///< The learned bias of the previous ensemble; otherwise zeros.
  std::string remark = {};  ///< Why a warm start does not inherit it, for the log.
};
/// A bias belongs to all members together, so a warm start inherits it only if no member of the previous ensemble was
/// left out. `previous` is how many members that has; 0: there is none.
bias_start bias_start_of(size_t previous, size_t kept, bool warm_start);
/// The number of elements of the bias of one head: the last extent of the logits, or 1 for logits of rank 1.
int64_t bias_size(const shape& logits);

}  // namespace troupe
