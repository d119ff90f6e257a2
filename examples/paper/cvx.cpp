#include "examples/paper/cvx.hpp"

#include <troupe/metrics.hpp>
#include <troupe/predict.hpp>

#include <cmath>
#include <numeric>

namespace paper {

namespace {

/// The weights of all units of a layer as a matrix [inputs, units]; what a unit does not read has the weight 0.
tr::symbol layer_matrix(tr::graph& g, const cvx_network& network, int64_t layer, int64_t inputs) {
  std::vector<const cvx_unit*> units;
  for (const auto& unit : network)
    if (unit.layer == layer)
      units.push_back(&unit);
  std::vector<float> matrix(static_cast<size_t>(inputs) * units.size());
  for (size_t column = 0; column < units.size(); ++column)
    for (size_t j = 0; j < units[column]->weights.size(); ++j)
      matrix[j * units.size() + column] = units[column]->weights[j];
  return g.constant(tr::tensor::of<float>({inputs, static_cast<int64_t>(units.size())}, matrix));
}

tr::symbol mixture_column(tr::graph& g, const cvx_network& network, int64_t layer) {
  std::vector<float> column;
  for (const auto& unit : network)
    if (unit.layer == layer)
      column.push_back(static_cast<float>(unit.w));
  return g.constant(tr::tensor::of<float>({static_cast<int64_t>(column.size()), 1}, column));
}

int64_t depth_of(const cvx_network& network) {
  int64_t depth = 0;
  for (const auto& unit : network)
    depth = std::max(depth, unit.layer);
  return depth;
}

/// What the network computes of a batch.
struct activations {
  std::vector<tr::symbol> read;  ///< z_0 ... z_l: what a unit of layer 1 ... l + 1 reads.
  tr::symbol f;                  ///< [batch, 1]
  tr::symbol newest;             ///< u of the last unit, [batch, 1].
};
activations compute(tr::graph& g, const cvx_network& network, tr::symbol x) {
  activations a{.read = {x}, .f = tr::scale(tr::slice(x, 1, 0, 1), 0)};
  a.newest = a.f;
  for (int64_t k = 1; k <= depth_of(network); ++k) {
    const tr::symbol z = a.read.back();
    const tr::symbol units = tr::matmul(z, layer_matrix(g, network, k, z.dims()[1].coefficient));
    a.f = a.f + tr::matmul(units, mixture_column(g, network, k));
    if (network.back().layer == k)
      a.newest = tr::slice(units, 1, units.dims()[1].coefficient - 1, 1);
    a.read.push_back(tr::relu(units));
  }
  return a;
}

/// e = Σ d·y·z / Σ d over all batches, for weights d [batch, 1] that do not sum to 1 yet.
tr::metric correlation(tr::symbol d, tr::symbol y, tr::symbol z) {
  const tr::symbol wide = tr::cast(d, tr::dtype::float64), signs = tr::cast(y, tr::dtype::float64);
  const tr::symbol sum = tr::reduce_sum(wide * signs * tr::cast(z, tr::dtype::float64), {.axes = {0}});
  return {{sum, tr::reduce_sum(wide)}, [](std::span<const tr::tensor> totals) -> tr::metric_value {
            std::vector<double> e(totals[0].as<double>().begin(), totals[0].as<double>().end());
            for (double& one : e)
              one /= totals[1].as<double>()[0];
            return tr::tensor::of<double>(totals[0].dims(), e);
          }};
}

std::string correlation_name(int64_t k) { return "e_" + std::to_string(k); }

tr::model_spec spec_of(tr::graph& g, const cvx_network& network, const tr::features& x, const tr::labels& labels,
                       tr::mode mode) {
  const auto a = compute(g, network, x.only());
  tr::model_spec spec{.predictions = {{"f", a.f}, {"u", a.newest}}};
  if (mode == tr::mode::predict)
    return spec;
  const tr::symbol y = signs(labels.only()), zero = g.constant(tr::tensor::scalar(0.f));
  spec.loss = surrogate_loss(labels.only(), a.f);
  spec.metrics["accuracy"] = tr::metrics::accuracy(tr::greater(y, zero), tr::greater(a.f, zero));
  const tr::symbol d = tr::sigmoid(1 - y * a.f);  // Φ'
  for (size_t k = 1; k <= a.read.size(); ++k)
    spec.metrics[correlation_name(static_cast<int64_t>(k))] = correlation(d, y, a.read[k - 1]);
  return spec;
}

double norm(const std::vector<double>& v) { return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0)); }

/// e_1, e_2 ... of the network, by one pass over the data.
tr::expected<std::vector<std::vector<double>>> correlations(const cvx_network& network, const tr::dataset& training) {
  const auto found = tr::evaluate({cvx_model(network)}, {.input = training});
  if (!found)
    return tr::fail(found.error());
  std::vector<std::vector<double>> e;
  for (int64_t k = 1; found->arrays.contains(correlation_name(k)); ++k) {
    const auto values = found->arrays.at(correlation_name(k)).as<double>();
    e.emplace_back(values.begin(), values.end());
  }
  return e;
}

/// The products of the labels with f and with the newest unit, for all examples.
struct products {
  std::vector<double> yf = {}, yu = {};
};
tr::expected<products> products_of(const cvx_network& network, const tr::dataset& training,
                                   const std::vector<float>& labels) {
  auto stream = tr::predict({cvx_model(network)}, {.input = training, .keys = {"f", "u"}, .single_examples = false});
  if (!stream)
    return tr::fail(stream.error());
  products all;
  for (const auto& batch : *stream) {
    const auto f = batch.values.at("f").as<float>(), u = batch.values.at("u").as<float>();
    for (size_t i = 0; i < f.size(); ++i) {
      const double y = labels[all.yf.size()] > 0.5f ? 1 : -1;
      all.yf.push_back(y * f[i]);
      all.yu.push_back(y * u[i]);
    }
  }
  if (const auto status = stream->status(); !status)
    return tr::fail(status.error());
  return all;
}

double mean_surrogate(const products& all, double w) {
  double sum = 0;
  for (size_t i = 0; i < all.yf.size(); ++i)
    sum += surrogate(1 - all.yf[i] - w * all.yu[i]);
  return sum / static_cast<double>(all.yf.size());
}

}  // namespace

tr::model cvx_model(const cvx_network& network) {
  return {"cvx", [network](tr::graph& g, const tr::features& x, const tr::labels& y, tr::mode mode) {
            return spec_of(g, network, x, y, mode);
          }};
}

std::optional<cvx_unit> best_unit(const std::vector<std::vector<double>>& e, const cvx_options& o) {
  std::optional<cvx_unit> best;
  double greatest = 0;
  for (size_t k = 1; k <= e.size(); ++k) {
    const double length = norm(e[k - 1]);
    const double gain = o.weight_norm * length - o.lambda * o.complexity(static_cast<int64_t>(k));
    if (!(gain > greatest))
      continue;
    greatest = gain;
    best = cvx_unit{.layer = static_cast<int64_t>(k)};
    for (const double one : e[k - 1])
      best->weights.push_back(static_cast<float>(o.weight_norm * one / length));
  }
  return best;
}

double line_search(const std::vector<double>& yf, const std::vector<double>& yu, double penalty) {
  const auto slope = [&](double w) {
    double sum = 0;
    for (size_t i = 0; i < yf.size(); ++i)
      sum -= surrogate_slope(1 - yf[i] - w * yu[i]) * yu[i];
    return sum / static_cast<double>(yf.size()) + (w < 0 ? -penalty : penalty);
  };
  // The slope jumps by twice the penalty at 0, which is the minimum where the sign changes there.
  const double right = slope(0), left = right - 2 * penalty;
  if (left <= 0 && right >= 0)
    return 0;
  const double direction = right < 0 ? 1 : -1;
  constexpr double greatest = 1e6;  // Where all y·u have one sign, without a penalty, F falls for ever.
  double near = 0, far = 1;
  while (far < greatest && direction * slope(direction * far) < 0) {
    near = far;
    far *= 2;
  }
  while (far - near > 1e-6 * far) {
    const double middle = (near + far) / 2;
    (direction * slope(direction * middle) < 0 ? near : far) = middle;
  }
  return direction * (near + far) / 2;
}

tr::expected<cvx_grown> grow_cvx(const cvx_options& o, const cvx_data& data,
                                 const std::function<tr::expected<void>(const cvx_grown&)>& after_round) {
  cvx_grown grown;
  double penalties = 0, before = surrogate(1);
  for (int64_t round = 0; round < o.rounds; ++round) {
    const auto e = correlations(grown.network, data.batches);
    if (!e)
      return tr::fail(e.error());
    auto unit = best_unit(*e, o);
    if (!unit)
      break;
    grown.network.push_back(std::move(*unit));
    const auto all = products_of(grown.network, data.batches, data.labels);
    if (!all)
      return tr::fail(all.error());
    auto& added = grown.network.back();
    const double penalty = o.lambda * o.complexity(added.layer);
    added.w = line_search(all->yf, all->yu, penalty);
    const double now = mean_surrogate(*all, added.w) + penalties + penalty * std::abs(added.w);
    if (!(now < before)) {
      grown.network.pop_back();
      break;
    }
    penalties += penalty * std::abs(added.w);
    before = now;
    grown.objective.push_back(now);
    if (const auto judged = after_round ? after_round(grown) : tr::expected<void>{}; !judged)
      return tr::fail(judged.error());
  }
  return grown;
}

}  // namespace paper
