// The models of groups: subnetworks, ensembles, the previous ensemble.
#include "compute/graph/model_graph.hpp"
#include "compute/optimizers/update.hpp"
#include "compute/parameters/parameter_store.hpp"
#include "ensemble/graphs/ensemble_records.hpp"
#include "ensemble/graphs/member_graph.hpp"
#include "ensemble/graphs/model_parts.hpp"
#include "ensemble/graphs/models.hpp"
#include "ensemble/graphs/outputs.hpp"
#include "ensemble/graphs/search_graph.hpp"
#include "ensemble/graphs/subnetwork_graph.hpp"
#include "ensemble/names.hpp"
#include "words/text.hpp"

namespace troupe {

namespace {

/// The features that a group reads from others. In a search for them, those that are missing are made.
class ports {
 public:
  ports(graph& g, const features& all, std::set<std::string>* asked = nullptr) : graph_(g), all_(all), asked_(asked) {}

  /// `like`: a symbol of that dtype and shape, in any graph.
  symbol read(const std::string& spec, const std::string& output, symbol like) {
    const auto name = port_name(spec, output);
    if (!asked_ || !like.valid())
      return like.valid() ? all_[name] : symbol{};
    if (asked_->insert(name).second)
      made_[name] = graph_.placeholder(name, like.type(), like.dims());
    return made_[name];
  }
  by_head read(const std::string& spec, std::string_view output, const by_head& like) {
    if (!like.is_map())
      return read(spec, std::string{output}, like.one());
    std::map<std::string, symbol> heads;
    for (const auto& one : heads_of(like))
      heads[*one.head] = read(spec, std::string{output} + one.suffix, one.value);
    return heads;
  }

 private:
  graph& graph_;
  const features& all_;
  std::set<std::string>* asked_;
  std::map<std::string, symbol> made_;
};

/// The same data in a graph of its own, where members are built to know their shapes and complexities.
struct scratch_graph {
  graph g;
  std::optional<search_graph> search;

  scratch_graph(const iteration_basis& basis, const features& x, const labels& y, mode m) {
    search.emplace(basis, g, placeholders_like(g, x), placeholders_like(g, y), m);
  }
};

/// The previous ensemble, whose outputs are features.
previous_outputs previous_as_features(const iteration_basis& basis, graph& g, scratch_graph& scratch, ports& read) {
  const auto& winner = *basis.previous();
  const auto before = scratch.search->context(basis.iteration()).previous;
  previous_outputs made = *before;
  made.logits = [&g, &scratch, &read, &winner, before] {
    const symbol like = before->logits();
    pass_error(scratch.g, g);
    return read.read(winner.spec, std::string{logits_output}, like);
  };
  made.output = [&g, &scratch, &read, &winner, before](size_t i, const std::string& name) {
    const symbol like = before->output(i, name);
    pass_error(scratch.g, g);
    const auto& all = winner.recipe.members;
    return i < all.size() ? read.read(subnetwork_spec_name(all[i].iteration, all[i].builder), name, like) : symbol{};
  };
  return made;
}

model_spec build_subnetwork_group(const iteration_basis& basis, const std::string& name, graph& g, const features& all,
                                  const labels& labels_in, mode m, std::set<std::string>* asked) {
  const auto& o = basis.options;
  const ensemble_member who{basis.iteration(), name};
  const auto* b = basis.find(who);
  if (!b) {
    g.invalid({errc::invalid_argument,
               "there is no builder called " + quoted(name) + " in iteration " + std::to_string(who.iteration)});
    return {.mode = m};
  }
  const auto scope_name = subnetwork_scope(who.iteration, name);
  const auto x = checked_data(o, g, data_features(g, all)), y = checked_data(o, g, search_labels(g, labels_in));
  scratch_graph scratch{basis, x, y, m};
  ports read{g, all, asked};
  build_context c{x, y, m, o.head.logits, who.iteration};
  previous_outputs previous;
  if (basis.previous())
    c.previous = &(previous = previous_as_features(basis, g, scratch, read));
  auto made = build_subnetwork(o, g, *b, scope_name, c, {own_data(g, all), own_data(g, labels_in)});
  if (!g.status())
    return {.mode = m};
  if (!o.enable_subnetwork_summaries)
    drop_summaries(g);
  auto& spec = made.spec;
  spec.export_outputs.clear();
  spec.predictions.clear();
  if (made.search_loss.valid())
    spec.predictions[std::string{search_loss_prediction}] = made.search_loss;
  for (const auto& [output, value] : outputs_of(made.shown))
    spec.predictions[port_name(subnetwork_spec_name(who.iteration, name), output)] = value;
  return std::move(spec);
}

/// The context of a candidate's ensembler, with the outputs that it needs as features.
ensemble_context read_members(const iteration_basis& basis, const candidate_spec& candidate, const ensembler& e,
                              graph& g, scratch_graph& scratch, ports& read, mode m) {
  ensemble_context c{.members = members_of(basis, candidate), .logits_dimension = basis.options.head.logits, .mode = m};
  const auto needs = needs_of(e);
  for (auto& member : c.members) {
    const auto& facts = scratch.search->member(member.who);
    const auto spec = subnetwork_spec_name(member.who.iteration, member.who.builder);
    if (!scratch.g.status())
      break;
    member.complexity = *facts.complexity;
    if (needs.logits)
      member.logits = read.read(spec, logits_output, facts.logits);
    if (needs.last_layer)
      member.last_layer = read.read(spec, last_layer_output, facts.last_layer);
  }
  // Finds members that do not fit together although this graph reads only a part of their outputs.
  static_cast<void>(scratch.search->ensemble(candidate));
  pass_error(scratch.g, g);
  return c;
}

model_spec build_ensemble_group(const iteration_basis& basis, const candidate_spec& candidate, graph& g,
                                const features& all, const labels& labels_in, mode m, std::set<std::string>* asked) {
  const auto& o = basis.options;
  const auto* e = basis.find_ensembler(candidate.recipe.ensembler);
  if (!e) {
    g.invalid({errc::invalid_argument, "there is no ensembler called " + quoted(candidate.recipe.ensembler)});
    return {.mode = m};
  }
  const auto x = checked_data(o, g, data_features(g, all)), y = checked_data(o, g, labels_in);
  scratch_graph scratch{basis, x, y, m};
  ports read{g, all, asked};
  const auto where = place_of(basis, candidate);
  const auto c = read_members(basis, candidate, *e, g, scratch, read, m);
  if (!g.status())
    return {.mode = m};
  const auto made = build_ensemble(g, *e, where, c, o.head);
  if (!g.status())
    return {.mode = m};
  auto spec = headed(o, g, m, made.logits, x, y);
  if (!g.status())
    return spec;
  const auto& by = optimizer_of(*e);
  spec.optimizer = by ? below(ensemble_scope(where.iteration, where.spec), *by) : optimizer{gradient_descent{}};
  spec.export_outputs.clear();
  if (m == mode::predict)
    return spec;
  const symbol loss = spec.loss;
  spec.loss = with_regularization(loss, made.regularization);
  if (m == mode::train) {
    const symbol average = keep_loss_average(g, where, spec.loss, made.regularization, o.adanet_loss_decay);
    if (o.enable_ensemble_summaries)
      record_ensemble(g, where, made, average);
    else
      drop_summaries(g);
    record_loss(g, where, loss);  // The search records that of its leader.
  }
  return spec;
}

model_spec build_previous_group(const iteration_basis& basis, graph& g, const features& all, const labels& labels_in,
                                mode m) {
  if (!basis.previous()) {
    g.invalid({errc::failed_precondition, "iteration 0 has no previous ensemble"});
    return {.mode = m};
  }
  const auto& o = basis.options;
  const auto x = checked_data(o, g, data_features(g, all)), y = checked_data(o, g, labels_in);
  const auto& winner = *basis.previous();
  search_graph search{basis, g, x, y, m == mode::train && !o.replicate_ensemble_in_training ? mode::evaluate : m};
  const auto& made = search.ensemble(previous_candidate(basis));
  if (!g.status())
    return {.mode = m};
  auto spec = headed(o, g, m, made.logits, x, y);
  spec.optimizer = gradient_descent{};
  spec.predictions = {{port_name(winner.spec, logits_output), made.logits}};
  spec.export_outputs.clear();
  for (const auto& who : winner.recipe.members)
    for (const auto& [output, value] : outputs_of(search.member(who)))
      spec.predictions[port_name(subnetwork_spec_name(who.iteration, who.builder), output)] = value;
  freeze(g);
  drop_summaries(g);
  return spec;
}

model_spec build_previous_loss(const iteration_basis& basis, graph& g, const features& all, const labels& labels_in,
                               mode m) {
  const auto& o = basis.options;
  const auto x = data_features(g, all);
  const symbol logits = all[port_name(basis.previous()->spec, logits_output)];
  auto spec = headed(o, g, m, logits, x, labels_in);
  spec.optimizer = gradient_descent{};
  spec.export_outputs.clear();
  spec.predictions.clear();
  drop_summaries(g);
  return spec;
}

/// A group's graph for training alone, with placeholders for the ports that it asks for, which are added to `asked`.
template <class Build>
expected<std::shared_ptr<const model_graph>> built_alone(const std::string& name, const element_spec& data, Build build,
                                                         std::set<std::string>& asked) {
  const model probe{name,
                    [&](graph& g, const features& x, const labels& y, mode m) { return build(g, x, y, m, &asked); }};
  return build_graph(probe, data, mode::train);
}

expected<void> check_features(const element_spec& data) {
  for (const auto& one : data.features)
    if (is_port(one.name))
      return fail(errc::invalid_argument, "the feature " + quoted(printable(one.name)) + " of the data has a name that "
                                              + "a search keeps for outputs of other groups: rename it");
  return {};
}

/// The ports that a group asks for.
template <class Build>
expected<std::vector<std::string>> asked_by(const std::string& name, const element_spec& data, Build build) {
  std::set<std::string> asked;
  const auto built = built_alone(name, data, build, asked);
  if (!built)
    return fail(built.error());
  return std::vector<std::string>(asked.begin(), asked.end());
}

/// The variables of a group's graph that have moving averages.
template <class Build>
expected<std::vector<std::string>> averaged_in(const std::string& name, const element_spec& data, Build build) {
  std::set<std::string> asked;
  const auto built = built_alone(name, data, build, asked);
  if (!built)
    return fail(built.error());
  const auto layout = parameter_layout::of((*built)->g, (*built)->spec.optimizer);
  if (!layout)
    return fail(layout.error());
  std::vector<std::string> names;
  const auto entries = layout->entries();
  for (const auto& e : entries)
    if (e.slot && e.name == average_of(entries[static_cast<size_t>(e.variable)].name))
      names.push_back(entries[static_cast<size_t>(e.variable)].name);
  return names;
}

bool may_average(const std::optional<optimizer>& o) { return o && o->moving_average > 0; }

}  // namespace

model subnetwork_model(shared_basis basis, const std::string& builder) {
  const auto name = subnetwork_spec_name(basis->iteration(), builder);
  return {name, [basis = std::move(basis), builder](graph& g, const features& x, const labels& y, mode m) {
            return build_subnetwork_group(*basis, builder, g, x, y, m, nullptr);
          }};
}

model ensemble_model(shared_basis basis, const candidate_spec& candidate) {
  return {candidate.spec, [basis = std::move(basis), candidate](graph& g, const features& x, const labels& y, mode m) {
            return build_ensemble_group(*basis, candidate, g, x, y, m, nullptr);
          }};
}

model previous_model(shared_basis basis) {
  return {"previous", [basis = std::move(basis)](graph& g, const features& x, const labels& y, mode m) {
            return build_previous_group(*basis, g, x, y, m);
          }};
}

model previous_loss_model(shared_basis basis) {
  return {"previous loss", [basis = std::move(basis)](graph& g, const features& x, const labels& y, mode m) {
            return build_previous_loss(*basis, g, x, y, m);
          }};
}

expected<std::vector<std::string>> ports_of_subnetwork(const shared_basis& basis, const std::string& builder,
                                                       const element_spec& data) {
  if (auto right = check_features(data); !right)
    return fail(std::move(right.error()));
  return asked_by(builder, data_of_group(*basis, builder, data),
                  [&](graph& g, const features& x, const labels& y, mode m, std::set<std::string>* asked) {
                    return build_subnetwork_group(*basis, builder, g, x, y, m, asked);
                  });
}

expected<std::vector<std::string>> ports_of_ensemble(const shared_basis& basis, const candidate_spec& candidate,
                                                     const element_spec& data) {
  if (auto right = check_features(data); !right)
    return fail(std::move(right.error()));
  return asked_by(candidate.spec, data,
                  [&](graph& g, const features& x, const labels& y, mode m, std::set<std::string>* asked) {
                    return build_ensemble_group(*basis, candidate, g, x, y, m, asked);
                  });
}

std::string average_of(const std::string& variable) { return variable + "/" + std::string{moving_average_slot}; }

expected<std::vector<std::string>> averaged_by_subnetwork(const shared_basis& basis, const std::string& builder,
                                                          const element_spec& data) {
  const auto* b = basis->find({basis->iteration(), builder});
  if (b && !b->train && !may_average(b->optimizer))
    return std::vector<std::string>{};
  return averaged_in(builder, data_of_group(*basis, builder, data),
                     [&](graph& g, const features& x, const labels& y, mode m, std::set<std::string>* asked) {
                       return build_subnetwork_group(*basis, builder, g, x, y, m, asked);
                     });
}

expected<std::vector<std::string>> averaged_by_ensemble(const shared_basis& basis, const candidate_spec& candidate,
                                                        const element_spec& data) {
  const auto* e = basis->find_ensembler(candidate.recipe.ensembler);
  if (e && !may_average(optimizer_of(*e)))
    return std::vector<std::string>{};
  return averaged_in(candidate.spec, data,
                     [&](graph& g, const features& x, const labels& y, mode m, std::set<std::string>* asked) {
                       return build_ensemble_group(*basis, candidate, g, x, y, m, asked);
                     });
}

}  // namespace troupe
