// Subnetworks: what a builder makes in a graph, and what it may read of the previous ensemble.
// Not needed to begin with.
#pragma once

#include <troupe/model.hpp>
#include <troupe/search/architecture.hpp>

#include <any>

namespace troupe {

/// One symbol, or, under a multi_head, one for each head, by its name.
class by_head {
 public:
  by_head() = default;
  by_head(symbol one) : one_(one) {}          // NOLINT(google-explicit-constructor): `.logits = x` should read so.
  by_head(std::map<std::string, symbol> all)  // NOLINT(google-explicit-constructor)
    : all_(std::move(all)) {}
  /// Whether there is one for each head.
  bool is_map() const noexcept { return !all_.empty(); }
  symbol one() const noexcept { return one_; }
  const std::map<std::string, symbol>& all() const noexcept { return all_; }

 private:
  symbol one_;
  std::map<std::string, symbol> all_;
};

/// The outputs of one model. The first axis of each symbol is the batch. Under a multi_head, logits are all side by
/// side in one symbol, or by head; `last_layer` is by head exactly if `logits` is.
struct subnetwork {
  by_head last_layer = {};                ///< Required. MATRIX mixture weights multiply it.
  by_head logits = {};                    ///< Required: floating [batch, logits of the head].
  std::optional<double> complexity = {};  ///< Required: finite and at least 0. Cortes et al. 2017, r(h).
  /// Other values that later builders may read, such as hidden layers, by names other than those above.
  std::map<std::string, symbol> outputs = {};
  /// Plain values for later builders. No symbols: it is read in other graphs.
  std::any shared = {};
};

/// The winner of the iteration before, on the rows of the current batch. No gradient reaches it. What a function does
/// not ask for is neither built nor computed. Valid during the call that it is passed to.
struct previous_outputs {
  architecture recipe = {};
  /// The logits of the ensemble, those of all heads side by side.
  std::function<symbol()> logits = {};
  /// A value of member `i` of the recipe: "logits", "last_layer", both followed by "_<head>" if they are by head, or
  /// one of its `outputs`. A member or a name that there is not is an error of the graph (key_missing).
  std::function<symbol(size_t i, const std::string& name)> output = {};
  /// Complexity and shared values of member `i`; symbols in it belong to another graph.
  std::function<const subnetwork&(size_t i)> facts = {};
};

}  // namespace troupe
