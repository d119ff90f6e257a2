// Searches over pools of ordinary models.
#include "ensemble/names.hpp"
#include "words/text.hpp"

#include <troupe/search/auto_ensemble.hpp>

namespace troupe::generators {

namespace {

using predictions = std::map<std::string, symbol>;

/// What a model trains by itself, from `build` to `train` of its builder.
struct own_training {
  symbol loss;
  optimizer by;
};

/// "a" for "a/logits"; absent if the prediction is not called so.
std::optional<std::string> head_of(const std::string& prediction, std::string_view output) {
  if (!prediction.ends_with(output) || prediction.size() < output.size() + 2
      || prediction[prediction.size() - output.size() - 1] != '/')
    return std::nullopt;
  return prediction.substr(0, prediction.size() - output.size() - 1);
}

by_head logits_in(graph& g, const std::string& builder, const predictions& all) {
  for (const std::string output : {"logits", "predictions"}) {
    if (const auto found = all.find(output); found != all.end())
      return found->second;
    std::map<std::string, symbol> heads;
    for (const auto& [name, value] : all)
      if (const auto head = head_of(name, output))
        heads[*head] = value;
    if (!heads.empty())
      return heads;
  }
  g.invalid({errc::key_missing,
             "the model " + quoted(builder) + " predicts neither 'logits' nor 'predictions', but "
                 + (all.empty() ? "nothing" : joined(all, ", ", [](const auto& p) { return quoted(p.first); }))
                 + ": set logits_fn"});
  return {};
}

subnetwork build_member(graph& g, const std::string& name, const pool_member& member, const auto_ensemble_options& o,
                        const build_context& c) {
  const auto refuse = [&](const std::string& what) {
    g.invalid({errc::invalid_argument, "the model " + quoted(name) + " has no " + what});
    return subnetwork{};
  };
  if (!member.model.build)
    return refuse("build function");
  const bool trains = c.training() && !member.prediction_only;
  auto spec = member.model.build(g, c.features, c.labels, trains ? mode::train : mode::predict);
  if (!g.status())
    return {};
  subnetwork made{.complexity = 0};
  if (trains && !spec.loss.valid())
    return refuse("loss");
  if (trains && !spec.optimizer)
    return refuse("optimizer");
  if (trains)
    made.shared = own_training{spec.loss, *spec.optimizer};
  made.logits = o.logits_fn ? o.logits_fn(spec.predictions) : logits_in(g, name, spec.predictions);
  made.last_layer = o.last_layer_fn ? o.last_layer_fn(spec.predictions) : made.logits;
  return made;
}

builder builder_of(const std::string& name, const pool_member& member, const auto_ensemble_options& o) {
  builder made{
      .name = name,
      .build = [name, member, o](graph& g, const build_context& c) { return build_member(g, name, member, o, c); },
      .train_input = member.train_input,
      .steps_max = member.steps_max};
  if (!member.prediction_only)
    made.train = [](graph&, const subnetwork& own, symbol, const build_context&) -> subnetwork_training {
      const auto& training = std::any_cast<const own_training&>(own.shared);
      return {training.loss, training.by};
    };
  return made;
}

std::vector<builder> builders_of(const model_list& all, const auto_ensemble_options& o) {
  std::vector<builder> builders;
  for (size_t i = 0; i < all.size(); ++i)
    builders.push_back(
        builder_of(all[i].name.empty() ? pool_builder_name(all[i].model.name, i) : all[i].name, all[i], o));
  return builders;
}

std::vector<builder> builders_of(const model_map& all, const auto_ensemble_options& o) {
  std::vector<builder> builders;
  for (const auto& [key, member] : all)
    builders.push_back(builder_of(member.name.empty() ? key : member.name, member, o));
  return builders;
}

}  // namespace

generator auto_ensemble(auto_ensemble_options options) {
  return [o = std::move(options)](const generator_input& in) {
    const auto of = [&o](const auto& models) { return builders_of(models, o); };
    if (const auto* list = std::get_if<model_list>(&o.pool))
      return of(*list);
    if (const auto* map = std::get_if<model_map>(&o.pool))
      return of(*map);
    const auto& function = std::get<2>(o.pool);
    if (!function)
      throw std::invalid_argument("the pool of auto_ensemble is an empty function");
    return std::visit(of, function(in.iteration));
  };
}

}  // namespace troupe::generators
