#include "ensemble/graphs/ensemble_records.hpp"

#include "ensemble/graphs/outputs.hpp"
#include "ensemble/loss_average.hpp"
#include "ensemble/names.hpp"

namespace troupe {

namespace {

symbol number(graph& g, float x) { return g.constant(tensor::scalar(x)); }

symbol kept(graph& g, const std::string& name) { return g.variable({.name = name, .trainable = false}); }

symbol as_float(symbol x) {
  const symbol scalar = x.rank() == 0 ? x : reshape(x, {});
  return scalar.type() == dtype::float32 ? scalar : cast(scalar, dtype::float32);
}

/// The share of each norm in the sum of all; zeros if the sum is 0.
std::vector<symbol> shares_of(const std::vector<symbol>& norms) {
  const symbol all = stack(norms), sum = reduce_sum(all), zero = number_like(sum, 0);
  const symbol shares = select(equal(sum, zero), zero, all / select(equal(sum, zero), number_like(sum, 1), sum));
  std::vector<symbol> each;
  for (size_t k = 0; k < norms.size(); ++k)
    each.push_back(reshape(slice(shares, 0, static_cast<int64_t>(k), 1), {}));
  return each;
}

}  // namespace

symbol keep_loss_average(graph& g, const ensemble_place& where, symbol adanet_loss, symbol regularization,
                         float decay) {
  const auto keys = loss_average_keys_of(where.iteration, where.spec);
  const symbol count = kept(g, keys.count), one = number(g, 1), next_count = count + one;
  const symbol unbiased = one - pow(number(g, decay), next_count), is_first = equal(next_count, one);
  const auto keep = [&](const std::string& key, const std::string& biased_key, symbol now) {
    const symbol value = kept(g, key), biased = kept(g, biased_key), v = as_float(now);
    const symbol next_biased = biased - (biased - v) * number(g, 1 - decay);
    const symbol next = select(is_first, v, next_biased / unbiased);
    g.assign(value, next);
    g.assign(biased, next_biased);
    return next;
  };
  const symbol average = keep(keys.value, keys.biased, adanet_loss);
  keep(keys.penalty, keys.biased_penalty, regularization.valid() ? regularization : number(g, 0));
  g.assign(count, next_count);
  return average;
}

void record_loss(graph& g, const ensemble_place& where, symbol loss) {
  const fixed_scope scope{g, ensemble_scope(where.iteration, where.spec)};
  g.scalar("loss", loss);
}

void record_ensemble(graph& g, const ensemble_place& where, const built_ensemble& made, symbol average) {
  const fixed_scope scope{g, ensemble_scope(where.iteration, where.spec)};
  g.scalar(adanet_loss_tag, average);
  for (const auto& head : made.weights) {
    g.scalar(std::string{regularization_tag} + head.suffix, head.regularization);
    g.histogram(std::string{weights_tag} + head.suffix, stack(head.norms));
    const auto shares = shares_of(head.norms);
    for (size_t k = 0; k < head.norms.size(); ++k) {
      const auto of_member = head.suffix + "_" + std::to_string(k);
      g.scalar(std::string{norms_tag} + of_member, head.norms[k]);
      g.scalar(std::string{fractions_tag} + of_member, shares[k]);
    }
  }
}

}  // namespace troupe
