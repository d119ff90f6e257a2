// Dropout (Srivastava et al. 2014): y = x·m·k, k = 1 / (1 - rate) in the dtype, m drawn from Philox with the key (seed,
// scoped name) and the counter (element / 4, shard, step). The gradient is the same operation on dy: the mask is drawn
// again, never kept.
#include "compute/kernels/random_lanes.hpp"
#include "compute/operations/elementwise/elementwise.hpp"

namespace troupe {
namespace {

template <class T>
void dropout_kernel(const kernel_call& c, run_state& s) {
  const T* x = c.to<const T>(s, 0);
  T* y = c.to<T>(s, 1);
  const auto rate = static_cast<float>(c.number);
  const T keep = static_cast<T>(1.0 / (1.0 - c.number));
  const auto step = static_cast<uint64_t>(s.step);
  const auto counter = [&](int64_t i) -> random::block {
    return {static_cast<uint32_t>((c.first + i) / 4), static_cast<uint32_t>(s.shard), static_cast<uint32_t>(step),
            static_cast<uint32_t>(step >> 32)};
  };
  const auto drop = [&](int64_t i, uint32_t bits) { y[i] = random::unit_float(bits) < rate ? T{0} : x[i] * keep; };
  int64_t i = 0;
  for (; i + 32 <= c.n[0] && counter(i)[0] <= UINT32_MAX - 7; i += 32) {
    const auto bits = random::philox8(counter(i), c.key);
    for (int64_t b = 0; b < 8; ++b)
      for (int64_t j = 0; j < 4; ++j)
        drop(i + 4 * b + j, bits.words[j][b]);
  }
  for (; i < c.n[0]; i += 4) {
    const auto bits = random::philox(counter(i), c.key);
    for (int64_t j = 0; j < 4 && i + j < c.n[0]; ++j)
      drop(i + j, bits[static_cast<size_t>(j)]);
  }
}

void lower_dropout(lowering& l) {
  lower_elements(l);
  l.kernel.number = l.call.attr.number;
  l.kernel.key = random::key(l.seed(), "dropout", l.call.attr.key);
  l.run(l.in(0).type, dropout_kernel<float>, dropout_kernel<double>);
}

}  // namespace

namespace ops {
const operation dropout{.name = "dropout",
                        .gradient =
                            [](const gradient_input& in) {
                              return std::vector<symbol>{keyed_dropout(in.dy, in.n.attr.number, in.n.attr.key, in.at)};
                            },
                        .lower = lower_dropout,
                        .in_place = true};
}  // namespace ops

symbol dropout(symbol x, double rate, bool training, std::source_location at) {
  graph* g = common_graph("dropout", {x}, at);
  if (!g)
    return x;
  if (!is_floating(x.type()))
    return refuse(*g, "dropout",
                  "no such operation on " + std::string{to_string(x.type())} + " " + to_string(*g, x.dims()), at);
  if (!(rate >= 0 && rate < 1))
    return refuse(*g, "dropout", "rate " + std::to_string(rate) + " is outside [0, 1)", at);
  if (!training || rate == 0)
    return x;
  const symbol y = keyed_dropout(x, rate, {}, at);
  auto& n = contents_of(*g).nodes.back();
  n.attr.key = n.name;
  return y;
}

symbol keyed_dropout(symbol x, double rate, std::string key, std::source_location at) {
  attributes attr;
  attr.number = rate;
  attr.key = std::move(key);
  return x.valid() ? append(*x.owner(), ops::dropout, {x}, x.type(), symbol_shape{x.dims()}, at, std::move(attr)) : x;
}

}  // namespace troupe
