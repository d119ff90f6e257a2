// The models of whole iterations and of winners: what is evaluated, predicted and exported.
#include "compute/graph/model_graph.hpp"
#include "ensemble/graphs/member_graph.hpp"
#include "ensemble/graphs/model_parts.hpp"
#include "ensemble/graphs/models.hpp"
#include "ensemble/graphs/outputs.hpp"
#include "ensemble/graphs/search_graph.hpp"
#include "ensemble/names.hpp"
#include "words/text.hpp"

namespace troupe {

namespace {

using metrics_by_name = std::map<std::string, metric>;

/// Adds metrics, in place of those of the same name.
void put(metrics_by_name& to, const metrics_by_name& more) {
  for (const auto& [name, one] : more)
    to[name] = one;
}

/// What makes evaluations and predictions read moving averages in place of the variables that have them. Nothing else
/// of it is used.
optimizer reading_averages() {
  optimizer o{gradient_descent{}};
  o.moving_average = .5f;
  return o;
}

metric mean_over_batches(symbol one_number) { return ratio_metric{one_number, number_like(one_number, 1)}; }

metrics_by_name results_of_metric_fn(const search_options& o, graph& g, symbol logits, const features& x,
                                     const labels& y) {
  return o.metric_fn ? o.metric_fn(g, {headed(o, g, mode::predict, logits, x, y).predictions, x, y})
                     : metrics_by_name{};
}

/// The metrics of one spec with these logits, from those that it has of its own.
metrics_by_name evaluated(const search_options& o, graph& g, symbol logits, symbol regularization, bool is_ensemble,
                          const features& x, const labels& y, metrics_by_name own) {
  const auto spec = headed(o, g, mode::evaluate, logits, x, y);
  if (!g.status())
    return {};
  put(own, spec.metrics);
  own["loss"] = mean_over_batches(spec.loss);
  if (is_ensemble)
    own["adanet_loss"] = mean_over_batches(with_regularization(spec.loss, regularization));
  const auto more = results_of_metric_fn(o, g, logits, x, y);
  const auto of_head = own["loss"];
  put(own, more);
  if (own.contains(std::string{head_loss_metric}))
    g.invalid(
        {errc::invalid_argument, quoted(head_loss_metric) + " is a reserved name and cannot be that of a metric"});
  if (more.contains("loss"))
    own[std::string{head_loss_metric}] = of_head;
  return own;
}

void add_under(metrics_by_name& to, const std::string& spec, const metrics_by_name& own) {
  for (const auto& [name, one] : own)
    to[spec + "/" + name] = one;
}

builder_report reported(const iteration_basis& basis, graph& g, search_graph& search, const ensemble_member& who) {
  const auto& b = *basis.find(who);
  const auto& made = search.member(who);
  if (!b.report || !g.status())
    return {};
  return called(g, b, "report()", [&] { return b.report(g, made, search.context(who.iteration)); });
}

model_spec build_composite(const iteration_basis& basis, const composite_parts& parts, graph& g, const features& all,
                           const labels& all_labels, mode m) {
  if (m != mode::evaluate) {
    g.invalid({errc::failed_precondition, "all candidates of an iteration together can only be evaluated"});
    return {.mode = m};
  }
  const auto& o = basis.options;
  const auto x = checked_data(o, g, all), y = checked_data(o, g, all_labels);
  search_graph search{basis, g, x, y, m};
  model_spec spec{.mode = m, .loss = g.constant(tensor::scalar(0.f)), .optimizer = reading_averages()};
  for (const auto& name : parts.subnetworks) {
    const ensemble_member who{basis.iteration(), name};
    const auto& made = search.member(who);
    if (!g.status())
      return spec;
    auto own = parts.reports ? reported(basis, g, search, who).metrics : metrics_by_name{};
    add_under(spec.metrics, subnetwork_spec_name(who.iteration, name),
              evaluated(o, g, side_by_side(made.logits, o.head), {}, false, x, y, std::move(own)));
  }
  for (const auto& candidate : parts.candidates) {
    const auto& made = search.ensemble(candidate);
    if (!g.status())
      return spec;
    add_under(spec.metrics, candidate.spec, evaluated(o, g, made.logits, made.regularization, true, x, y, {}));
  }
  accept_any_prediction(g);
  return spec;
}

using signatures = std::map<std::string, std::map<std::string, symbol>>;

/// Adds an output of all members, by head, as signatures.
void offer(signatures& to, const std::string& name, search_graph& search, const candidate_spec& winner,
           by_head subnetwork::*output) {
  for (const auto& who : winner.recipe.members)
    for (const auto& one : heads_of(search.member(who).*output))
      to[name + one.suffix][subnetwork_spec_name(who.iteration, who.builder)] = one.value;
}

model_spec build_winner(const iteration_basis& basis, const candidate_spec& winner, graph& g, const features& all,
                        const labels& all_labels, mode m) {
  if (m == mode::train) {
    g.invalid({errc::failed_precondition, "the ensemble " + quoted(winner.spec) + " is trained by its search alone"});
    return {.mode = m};
  }
  const auto& o = basis.options;
  const auto x = checked_data(o, g, all), y = checked_data(o, g, all_labels);
  search_graph search{basis, g, x, y, m};
  const auto& made = search.ensemble(winner);
  if (!g.status())
    return {.mode = m};
  auto spec = headed(o, g, m, made.logits, x, y);
  spec.optimizer = reading_averages();
  if (!g.status())
    return spec;
  if (m == mode::evaluate) {
    auto more = results_of_metric_fn(o, g, made.logits, x, y);
    more.erase("loss");  // A winner's loss is that of its head, under any metrics.
    put(spec.metrics, more);
    return spec;
  }
  for (const auto& [name, value] : made.predictions)
    spec.predictions[name] = value;
  if (o.export_subnetwork_logits)
    offer(spec.export_outputs, "subnetwork_logits", search, winner, &subnetwork::logits);
  if (o.export_subnetwork_last_layer)
    offer(spec.export_outputs, "subnetwork_last_layer", search, winner, &subnetwork::last_layer);
  return spec;
}

}  // namespace

model composite_model(shared_basis basis, composite_parts parts) {
  return {"composite",
          [basis = std::move(basis), parts = std::move(parts)](graph& g, const features& x, const labels& y, mode m) {
            return build_composite(*basis, parts, g, x, y, m);
          }};
}

std::map<std::string, double> metrics_of(const std::map<std::string, double>& all, std::string_view spec) {
  const auto prefix = std::string{spec} + "/";
  std::map<std::string, double> own;
  for (auto at = all.lower_bound(prefix); at != all.end() && at->first.starts_with(prefix); ++at)
    own[at->first.substr(prefix.size())] = at->second;
  return own;
}

model winner_model(shared_basis basis, const candidate_spec& winner) {
  auto texts = basis->options.head.texts;
  return {winner.spec,
          [basis = std::move(basis), winner](graph& g, const features& x, const labels& y, mode m) {
            return build_winner(*basis, winner, g, x, y, m);
          },
          std::move(texts)};
}

expected<void> enter_complexities(const shared_basis& basis, const element_spec& data, iteration_specs& specs) {
  const model probe{"complexities", [&](graph& g, const features& x, const labels& y, mode m) {
                      search_graph search{*basis, g, x, y, m};
                      for (auto& candidate : specs.candidates) {
                        double sum = 0;
                        for (const auto& who : candidate.recipe.members)
                          sum += search.member(who).complexity.value_or(0);
                        candidate.complexity = sum;
                      }
                      return model_spec{.mode = m};
                    }};
  return build_graph(probe, data, mode::evaluate).map([](const auto&) {});
}

expected<std::vector<subnetwork_report>> own_reports(const shared_basis& basis, const element_spec& data) {
  std::vector<subnetwork_report> reports;
  const model probe{"reports", [&](graph& g, const features& x, const labels& y, mode m) {
                      search_graph search{*basis, g, x, y, m};
                      for (const auto& b : basis->builders.at(basis->iteration())) {
                        auto own = reported(*basis, g, search, {basis->iteration(), b.name});
                        reports.push_back({std::move(own.hparams), std::move(own.attributes), {}});
                      }
                      return model_spec{.mode = m};
                    }};
  if (const auto built = build_graph(probe, data, mode::evaluate); !built)
    return fail(built.error());
  for (const auto& one : reports)
    if (auto right = validate(one); !right)
      return fail(std::move(right.error()));
  return reports;
}

}  // namespace troupe
