// Fusion: two calls become one if no other call reads the values between them.
#include "compute/planner/program_draft.hpp"

namespace troupe {
namespace {

/// Producer and readers of each value. It stays valid while calls are absorbed: the outer call takes over the inner
/// call's operands, and the value between the two is not looked up again.
class connections {
 public:
  explicit connections(program_draft& p)
    : draft_(p), uses_(p.values.size()), viewed_(p.values.size()), producer_(p.values.size(), -1) {
    for (const auto& v : p.values)
      if (v.view_of >= 0)
        viewed_[static_cast<size_t>(v.view_of)] = true;
    for (size_t c = 0; c < p.calls.size(); ++c) {
      if (p.calls[c].removed)
        continue;
      for (int32_t in : p.calls[c].in)
        ++uses_[static_cast<size_t>(in)];
      for (int32_t out : p.calls[c].out)
        producer_[static_cast<size_t>(out)] = static_cast<int32_t>(c);
    }
  }

  /// The call that yields `value` when its only reader is one operand of one call; else null.
  planned_call* sole_producer(int32_t value) const {
    const auto v = static_cast<size_t>(value);
    if (draft_.root(value) != value || draft_.value(value).keep || uses_[v] != 1 || viewed_[v] || producer_[v] < 0)
      return nullptr;
    planned_call& c = draft_.calls[static_cast<size_t>(producer_[v])];
    return c.removed ? nullptr : &c;
  }
  /// The same, if that call is of operation `op`.
  planned_call* sole_producer(int32_t value, const operation& op) const {
    planned_call* const c = sole_producer(value);
    return c && c->op == &op ? c : nullptr;
  }

 private:
  program_draft& draft_;
  std::vector<int32_t> uses_;
  std::vector<bool> viewed_;
  std::vector<int32_t> producer_;
};

/// Replaces `c` by the operation and operands of `inner`, but keeps c's result and c's place in the order.
void absorb(planned_call& c, planned_call& inner) {
  planned_call whole = inner;
  whole.out = c.out;
  whole.nodes.insert(whole.nodes.end(), c.nodes.begin(), c.nodes.end());
  inner.removed = true;
  c = std::move(whole);
}

/// The call that yields `value`, if a bias and a relu can be fused into it: a product, or a convolution that consists
/// of products.
planned_call* sole_product(const program_draft& p, const connections& all, int32_t value) {
  planned_call* const c = all.sole_producer(value);
  if (!c || c->relu || c->mask >= 0)
    return nullptr;
  const auto depthwise = [&] {
    return c->attr.window.groups > 1 && c->attr.window.groups == p.value(c->in[0]).dims[3];
  };
  return c->op == &ops::matmul || (c->op == &ops::conv2d && !depthwise()) ? c : nullptr;
}

void fuse_bias(program_draft& p, const connections& all, planned_call& c) {
  if (c.op != &ops::add)
    return;
  for (size_t product : {size_t{0}, size_t{1}}) {
    planned_call* inner = sole_product(p, all, c.in[product]);
    const int32_t bias = c.in[1 - product];
    const shape& out = p.value(c.out[0]).dims;
    if (!inner || inner->bias >= 0 || p.value(c.in[product]).dims != out
        || p.value(bias).dims != shape{out[out.rank() - 1]})
      continue;
    absorb(c, *inner);
    c.bias = static_cast<int32_t>(c.in.size());
    c.in.push_back(bias);
    return;
  }
}

void fuse_relu(const program_draft& p, const connections& all, planned_call& c) {
  if (c.op != &ops::relu)
    return;
  if (planned_call* inner = sole_product(p, all, c.in[0])) {
    absorb(c, *inner);
    c.relu = true;
  }
}

void fuse_mask(program_draft& p, const connections& all, planned_call& c) {
  if (c.op != &ops::relu_gradient)
    return;
  const int32_t mask = c.in[1];
  if (planned_call* pooled = all.sole_producer(c.in[0], ops::max_pool_gradient);
      pooled && !pooled->relu && pooled->in[0] == mask) {
    absorb(c, *pooled);
    c.relu = true;
    return;
  }
  planned_call* inner = all.sole_producer(c.in[0], ops::matmul);
  if (!inner || inner->relu || inner->mask >= 0 || p.value(mask).dims != p.value(c.out[0]).dims
      || p.value(c.in[0]).dims != p.value(c.out[0]).dims)
    return;
  absorb(c, *inner);
  c.mask = static_cast<int32_t>(c.in.size());
  c.in.push_back(mask);
}

}  // namespace

void fuse_layers(program_draft& p) {
  const connections all{p};
  for (auto& c : p.calls)
    if (!c.removed) {
      fuse_bias(p, all, c);
      fuse_relu(p, all, c);
      fuse_mask(p, all, c);
    }
}

void fuse_cross_entropy(program_draft& p) {
  for (auto& loss : p.calls) {
    if (loss.removed || loss.op != &ops::sparse_softmax_cross_entropy)
      continue;
    for (auto& gradient : p.calls) {
      if (gradient.removed || gradient.op != &ops::cross_entropy_gradient || gradient.in[0] != loss.in[0]
          || gradient.in[1] != loss.in[1])
        continue;
      const auto& dy = p.value(p.root(gradient.in[2])).splat;
      if (!dy)
        continue;
      loss.op = &ops::cross_entropy_with_gradient;
      loss.out.push_back(gradient.out[0]);
      loss.nodes.insert(loss.nodes.end(), gradient.nodes.begin(), gradient.nodes.end());
      loss.attr.number = *dy;
      gradient.removed = true;
      break;
    }
  }
}

void fuse_scaled_sum(program_draft& p) {
  const connections all{p};
  for (auto& c : p.calls) {
    if (c.removed || c.op != &ops::scale)
      continue;
    if (planned_call* inner = all.sole_producer(c.in[0], ops::reduce_sum)) {
      const double factor = inner->factor * c.attr.number, divisor = inner->divisor * c.divisor;
      absorb(c, *inner);
      c.factor = factor;
      c.divisor = divisor;
    }
  }
}

}  // namespace troupe
