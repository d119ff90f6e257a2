// An operation, a layer and a head of one's own: `own_parts [DIRECTORY]`.
#include <troupe/metrics.hpp>
#include <troupe/troupe.hpp>

#include <cmath>

namespace tr = troupe;

// operations begins
/// x · tanh(log(1 + e^x)). Misra 2019.
tr::symbol mish(tr::symbol x, TROUPE_AT) { return tr::mul(x, tr::tanh(tr::softplus(x, at), at), at); }

/// x rounded to multiples of 1/8; the gradient is that of x, since nothing flows back through stop_gradient.
tr::symbol in_eighths(tr::symbol x, TROUPE_AT) {
  const auto nearest = tr::scale(tr::floor(tr::scale(x, 8, at) + 0.5, at), 0.125, at);
  return tr::add(x, tr::stop_gradient(tr::sub(nearest, x, at), at), at);
}
// operations ends

// layer begins
struct highway_options {
  tr::activation activation = tr::relu;
  std::string name = "highway";
};
/// t · activation(x · A + a) + (1 - t) · x, t = sigmoid(x · B + b). Srivastava et al. 2015.
/// Variables <name>/{block,gate}/{kernel,bias}.
tr::symbol highway(tr::symbol x, highway_options options = {}, TROUPE_AT) {
  if (!x.valid())
    return x;  // The error is in the graph already.
  tr::graph& g = *x.owner();
  if (x.rank() != 2 || !x.dims()[1].known())
    return g.invalid({tr::errc::invalid_argument, "highway: x must be [batch, n] with a known n"}, at);
  const int64_t n = x.dims()[1].coefficient;
  const auto scope = g.scope(options.name);
  const auto block = tr::nn::dense(x, {.units = n, .activation = options.activation, .name = "block"}, at);
  const auto kernel = g.variable(
      {.name = "gate/kernel", .dims = {n, n}, .type = x.type(), .initial = tr::init::glorot_uniform()}, at);
  const auto bias = g.variable({.name = "gate/bias", .dims = {n}, .type = x.type(), .initial = tr::init::constant(-1)},
                               at);
  const auto t = tr::sigmoid(tr::matmul(x, kernel, {}, at) + bias, at);
  return t * block + (1 - t) * x;
}
// layer ends

// head begins
/// A number that the label is below with the probability `share`: the pinball loss. Koenker & Bassett 1978.
tr::head quantile_head(double share) {
  tr::head made;
  made.name = "quantile_head";
  made.logits = 1;
  made.build = [share](tr::graph&, const tr::head_spec_options& o, std::source_location at) {
    tr::model_spec spec;
    spec.predictions = {{"quantile", o.logits}};
    if (o.mode == tr::mode::predict)
      return spec;                                                // There are no labels.
    const auto label = tr::expand_dims(o.labels.get(at), 1, at);  // [batch, 1], as the logits.
    const auto above = label - o.logits;
    spec.loss = tr::reduce_mean(tr::maximum(share * above, (share - 1) * above, at), {}, at);
    const auto below = tr::cast(tr::less_equal(label, o.logits, at), tr::dtype::float32, at);
    spec.metrics["covered"] = tr::metrics::mean(below, {}, at);
    return spec;
  };
  return made;
}
// head ends

int main(int argc, char** argv) {
  const tr::element_spec spec{.features = {{.name = "x", .dims = {1}}}, .labels = {{.name = "y"}}};
  const auto points = tr::dataset::from_generator(spec, 2000, [](int64_t i) {
    const double x = std::fmod(static_cast<double>(i) * 0.6180339887, 1);
    const double noise = std::fmod(static_cast<double>(i) * 0.4142135624, 1);
    return tr::example_tensors{{{"x", tr::tensor::of<float>({1}, {static_cast<float>(x)})}},
                               {{"y", tr::tensor::scalar(static_cast<float>(x + noise))}}};
  });
  if (!points)
    return tr::print_error(points.error());

  // use begins
  const auto head = quantile_head(0.9);
  const tr::model model{"highway", [head](tr::graph& g, const tr::features& x, const tr::labels& y, tr::mode mode) {
                          auto h = tr::nn::dense(x["x"], {.units = 16, .activation = mish});
                          h = in_eighths(highway(h, {.activation = mish}));
                          const auto logits = tr::nn::dense(h, {.units = head.logits, .name = "logits"});
                          return head.spec(
                              g, {.mode = mode, .logits = logits, .labels = y, .optimizer = tr::adam{.rate = 0.01f}});
                        }};
  // use ends
  const tr::estimator estimator{model, {.model_dir = argc > 1 ? argv[1] : "runs/parts", .seed = 1}};
  return tr::print_result(
      tr::train_and_evaluate(estimator, {.input = points->skip(500).shuffle().batch(50).repeat(), .max_steps = 600},
                             {.input = points->take(500).batch(100)}));
}
