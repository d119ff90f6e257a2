#include "pipeline/plan/search_groups.hpp"

#include "ensemble/graphs/outputs.hpp"
#include "ensemble/names.hpp"
#include "words/expect.hpp"
#include "words/guarded.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// The groups of an iteration, made one after the other.
class group_list {
 public:
  group_list(const shared_basis& basis, const iteration_specs& specs, const search_books& books,
             const element_spec& data)
    : basis_(basis), specs_(specs), books_(books), data_(data) {}

  expected<std::vector<search_group>> make() {
    auto done = expected<void>{};
    for (size_t i = basis_->previous() ? 1 : 0; done && i < specs_.candidates.size(); ++i)
      done = add_ensemble(i);
    const auto first = all_.size();
    for (size_t i = 0; done && i < specs_.subnetworks.size(); ++i)
      done = add_subnetwork(i);
    if (!done)
      return fail(done.error());
    if (basis_->previous())
      add_previous();
    let_ensembles_fall(first);
    find_readers();
    return std::move(all_);
  }

 private:
  plan_group& add(std::string name, model source, std::vector<std::string> in) {
    auto& made = all_.emplace_back();
    made.what.id = group_id{static_cast<int32_t>(all_.size()) - 1};
    made.what.name = std::move(name);
    made.source = std::make_shared<const model>(std::move(source));
    made.in = std::move(in);
    return made.what;
  }

  /// What new subnetworks and ensembles have in common.
  void begin(plan_group& g, const std::optional<spec_stop>& stop, const std::optional<int64_t>& wanted) const {
    const auto& o = basis_->options;
    g.leaves = o.on_candidate_not_finite == candidate_not_finite::drop ? leaves_on::numbers : leaves_on::never;
    g.begins_at = books_.begins_at;
    // A spec that was dropped has left, and one that makes all steps of the iteration ends with it.
    auto steps = wanted;
    if (stop)
      steps = stop->cause == stop_cause::dropped ? std::nullopt : std::optional{stop->step};
    if (steps && (!o.max_iteration_steps || *steps < *o.max_iteration_steps))
      g.retires_at = books_.begins_at + *steps;
  }

  expected<void> add_ensemble(size_t index) {
    const auto& candidate = specs_.candidates[index];
    auto ports = ports_of_ensemble(basis_, candidate, data_);
    if (!ports)
      return fail(std::move(ports.error()));
    auto& g = add(candidate.spec, ensemble_model(basis_, candidate), std::move(*ports));
    begin(g, books_.candidates[index].stop, {});
    const auto keys = loss_average_keys_of(basis_->iteration(), candidate.spec);
    g.told_at_saves = {keys.value, keys.biased, keys.count, keys.penalty};
    g.summaries = {ensemble_directory(candidate.spec), ensemble_scope(basis_->iteration(), candidate.spec),
                   std::string{own_steps_tag}, basis_->options.enable_ensemble_summaries};
    return {};
  }

  expected<void> add_subnetwork(size_t index) {
    const auto& spec = specs_.subnetworks[index];
    auto ports = ports_of_subnetwork(basis_, spec.builder, data_);
    if (!ports)
      return fail(std::move(ports.error()));
    auto& g = add(subnetwork_spec_name(basis_->iteration(), spec.builder), subnetwork_model(basis_, spec.builder),
                  std::move(*ports));
    const auto wanted = lesser(spec.steps_max, spec.input_steps);
    begin(g, books_.subnetworks[index].stop, wanted);
    if (spec.input_steps && spec.input_steps != lesser(spec.steps_max, basis_->options.max_iteration_steps)
        && spec.input_steps == lesser(wanted, basis_->options.max_iteration_steps))
      g.input_ends_at = books_.begins_at + *spec.input_steps;
    for (const auto& b : basis_->builders.at(basis_->iteration()))
      if (b.name == spec.builder && b.train_input)
        all_.back().own = own_input{*b.train_input, "the builder " + quoted(b.name)};
    g.summaries = {subnetwork_directory(g.name), subnetwork_scope(basis_->iteration(), spec.builder),
                   std::string{own_steps_tag}, basis_->options.enable_subnetwork_summaries};
    return {};
  }

  void add_previous() {
    auto& g = add(std::string{previous_group_name}, previous_model(basis_), {});
    g.retires_at = books_.begins_at;
    g.summaries = {.directory = ensemble_directory(basis_->previous()->spec),
                   .written = basis_->options.enable_ensemble_summaries};
  }

  /// `first`: the index of the first subnetwork.
  void let_ensembles_fall(size_t first) {
    for (size_t i = 0; i < specs_.subnetworks.size(); ++i)
      for (size_t reader : readers_of(specs_, basis_->iteration(), specs_.subnetworks[i].builder)) {
        if (basis_->previous())
          --reader;  // The first candidate is the previous ensemble, which reads no new subnetwork.
        all_[reader].what.falls_with.push_back(all_[first + i].what.id);
      }
  }

  void find_readers() {
    std::map<group_id, std::set<std::string>> read;
    for (const auto& g : all_)
      for (const auto& port : g.in)
        read[source_of(all_, port).what.id].insert(port);
    for (auto& g : all_)
      g.out.assign(read[g.what.id].begin(), read[g.what.id].end());
  }

  const shared_basis& basis_;
  const iteration_specs& specs_;
  const search_books& books_;
  const element_spec& data_;
  std::vector<search_group> all_;
};

}  // namespace

/// What belongs to no new subnetwork is of the previous ensemble. Names may contain slashes, so that one may be the
/// beginning of another: the longest one counts.
const search_group& source_of(const std::vector<search_group>& all, std::string_view port) {
  const search_group* found = nullptr;
  for (const auto& g : all)
    if (port.starts_with(port_name(g.what.name, "")) && (!found || g.what.name.size() > found->what.name.size()))
      found = &g;
  if (!found)
    found = &all.back();
  expect(found->what.name == previous_group_name || port.starts_with(port_name(found->what.name, "")),
         "a group of a search reads an output of a group that there is not");
  return *found;
}

expected<std::vector<search_group>> groups_of(const shared_basis& basis, const iteration_specs& specs,
                                              const search_books& books, const element_spec& data) {
  return group_list{basis, specs, books, data}.make();
}

namespace {

/// The maker of hooks of a group's own; null: there is none.
hook_maker hooks_of_group(const iteration_basis& basis, const iteration_specs& specs, const std::string& name) {
  for (const auto& b : basis.builders.at(basis.iteration()))
    if (subnetwork_spec_name(basis.iteration(), b.name) == name)
      return b.hooks;
  for (const auto& candidate : specs.candidates) {
    const auto* by = candidate.spec == name ? basis.find_ensembler(candidate.recipe.ensembler) : nullptr;
    if (const auto* regularized = by ? std::get_if<complexity_regularized_ensembler>(by) : nullptr)
      return regularized->hooks;
    if (const auto* custom = by ? std::get_if<custom_ensembler>(by) : nullptr)
      return custom->hooks;
  }
  return {};
}

}  // namespace

expected<group_hooks> hooks_of(const iteration_basis& basis, const iteration_specs& specs,
                               const std::vector<search_group>& all) {
  group_hooks made;
  for (const auto& g : all) {
    const auto make = hooks_of_group(basis, specs, g.what.name);
    if (!make)
      continue;
    auto own = guarded("the function that makes the hooks of " + quoted(g.what.name), make);
    if (!own)
      return fail(std::move(own.error()));
    for (size_t i = 0; i < own->size(); ++i) {
      if (!(*own)[i])
        return fail(errc::invalid_argument, "hooks[" + std::to_string(i) + "] of " + quoted(g.what.name) + " is null");
      made.push_back({(*own)[i], g.what.id, g.what.name, g.what.begins_at});
    }
  }
  return made;
}

std::function<std::optional<std::string>(const std::map<std::string, double>& told, const std::set<std::string>& left)>
leading_group(choice_rules rules, search_books books) {
  return
      [rules = std::move(rules), books = std::move(books)](
          const std::map<std::string, double>& told, const std::set<std::string>& left) -> std::optional<std::string> {
        const auto before = books.previous();
        auto left_specs = left;
        if (before && left.contains(std::string{previous_group_name}))
          left_specs.insert(before->spec);
        const auto spec = leader_by_average(rules, books, told, left_specs);
        return before && spec == before->spec ? std::optional{std::string{previous_group_name}} : spec;
      };
}

}  // namespace troupe
