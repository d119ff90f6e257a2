#include "compute/graph/operation.hpp"
#include "compute/optimizers/update.hpp"
#include "compute/parameters/parameter_store.hpp"

#include <troupe/options/option_field.hpp>

#include <algorithm>
#include <numeric>
#include <set>

namespace troupe {
namespace {

constexpr int64_t line = 64;

int64_t padded(int64_t bytes) { return (bytes + line - 1) / line * line; }

/// The next offset for vector `index`: vectors that are traversed together must not begin at equal page offsets, where
/// their cache lines would compete for the same sets.
int64_t staggered(int64_t offset, int index) {
  constexpr int64_t page = 4096;
  const int64_t want = index * 17 * line % page;
  return offset + ((want - offset) % page + page) % page;
}

/// Each group must match a trainable variable: one that matches none has a misspelt name.
expected<void> check_groups(const graph& g, const variable_groups& groups) {
  const auto& variables = contents_of(g).variables;
  std::vector<std::string_view> trainable;
  for (const auto& v : variables)
    if (v.options.trainable)
      trainable.push_back(v.options.name);
  if (const auto* unused = groups.first_without(trainable))
    return fail(errc::invalid_argument, "optimizer: no trainable variable belongs to the group \"" + unused->prefix
                                            + "*" + unused->suffix + "\"");
  if (!variables.empty()
      && std::all_of(variables.begin(), variables.end(),
                     [&](const auto& v) { return !v.options.trainable || groups.freeze(v.options.name); })
      && std::any_of(variables.begin(), variables.end(), [](const auto& v) { return v.options.trainable; }))
    return fail(errc::invalid_argument, "optimizer: every trainable variable is frozen");
  return {};
}

/// Refuses weight decay for a variable that FTRL updates. Decay and rule may come from two groups.
expected<void> check_decay(const graph& g, const optimizer& o, const variable_groups& groups) {
  for (const auto& v : contents_of(g).variables) {
    const auto& name = v.options.name;
    const auto* group = groups.of(name);
    if (!v.options.trainable || (group && group->frozen)
        || !std::holds_alternative<ftrl>(rule_at(o, groups.rule_of(name))))
      continue;
    if (const float decay = group ? group->weight_decay.value_or(o.weight_decay) : o.weight_decay; decay != 0)
      return fail(errc::invalid_argument, "optimizer: weight_decay, " + option_text(decay) + " for '" + name + "', "
                                              + std::string{no_decay_of_ftrl});
  }
  return {};
}

/// By variable of the graph: the rule that updates it, if one does.
std::vector<std::optional<int32_t>> rules_of(const graph& g, const std::optional<optimizer>& o,
                                             const variable_groups& groups) {
  std::vector<std::optional<int32_t>> rules;
  for (const auto& v : contents_of(g).variables) {
    const bool updated = o && v.options.trainable && !groups.freeze(v.options.name);
    rules.push_back(updated ? std::optional{groups.rule_of(v.options.name)} : std::nullopt);
  }
  return rules;
}

/// The dtype and rule of each flat vector, in order: the optimizer's own rule comes before those of groups.
std::vector<std::pair<dtype, int32_t>> kinds_of_runs(const std::vector<std::optional<int32_t>>& rules) {
  std::set<int32_t> used;
  for (const auto& rule : rules)
    if (rule)
      used.insert(*rule);
  std::vector<std::pair<dtype, int32_t>> kinds;
  for (dtype type : {dtype::float32, dtype::float64})
    for (const int32_t rule : used)
      kinds.emplace_back(type, rule);
  return kinds;
}

/// Nodes that are read only by row look-ups.
std::vector<bool> only_looked_up(const graph_contents& g) {
  std::vector<bool> looked_up(g.nodes.size()), used_otherwise(g.nodes.size());
  for (const auto& n : g.nodes)
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const bool by_row = n.op == &ops::gather && i == 0 && n.attr.axis == 0;
      (by_row ? looked_up : used_otherwise)[static_cast<size_t>(n.inputs[i])] = true;
    }
  for (size_t i = 0; i < looked_up.size(); ++i)
    looked_up[i] = looked_up[i] && !used_otherwise[i];
  return looked_up;
}

}  // namespace

int64_t padded_bytes(const parameter_entry& e) { return padded(e.dims.elements() * size_of(e.type)); }

expected<parameter_layout> parameter_layout::of(const graph& g, const std::optional<optimizer>& o, int64_t batch_rows) {
  if (auto status = g.status(); !status)
    return fail(status.error());
  if (o) {
    if (auto valid = validate(*o); !valid)
      return fail(valid.error());
  }
  const variable_groups groups{o ? std::span{o->groups} : std::span<const variable_group>{}};
  if (o)
    if (auto fits = check_groups(g, groups).and_then([&] { return check_decay(g, *o, groups); }); !fits)
      return fail(fits.error());
  const auto& variables = contents_of(g).variables;
  const auto rules = rules_of(g, o, groups);
  parameter_layout layout;
  layout.whole_variables_ = o && any_needs_whole_variables(*o);
  int vectors = 0;
  for (const auto& [type, rule] : kinds_of_runs(rules)) {
    const auto slots = slots_of(*o, rule);
    const size_t first = layout.entries_.size();
    int64_t length = 0;
    for (size_t i = 0; i < variables.size(); ++i) {
      const auto& options = variables[i].options;
      if (rules[i] != rule || options.type != type)
        continue;
      layout.entries_.push_back({.name = options.name,
                                 .type = type,
                                 .dims = options.dims,
                                 .trainable = true,
                                 .replicas = options.replicas,
                                 .initial = options.initial,
                                 .offset = length,
                                 .gradient_offset = layout.gradient_bytes_ + length});
      length += padded(options.dims.elements() * size_of(type));
    }
    const size_t last = layout.entries_.size();
    if (first == last)
      continue;
    gradient_range range{.type = type,
                         .first = layout.gradient_bytes_,
                         .last = layout.gradient_bytes_ + length,
                         .slots = {},
                         .rule = rule};
    layout.gradient_bytes_ += length;
    for (size_t vector = 0; vector <= slots.size(); ++vector) {
      const int64_t start = staggered(layout.arena_bytes_, vectors++);
      if (vector == 0)
        range.variables = start;
      else
        range.slots.push_back(start);
      for (size_t i = first; i < last; ++i) {
        if (vector == 0) {
          layout.entries_[i].offset += start;
          continue;
        }
        parameter_entry slot = layout.entries_[i];
        slot.offset += start - layout.entries_[first].offset;
        slot.name += "/" + std::string{slots[vector - 1].name};
        slot.slot = true;
        slot.trainable = false;
        slot.initial = slots[vector - 1].initial;
        slot.variable = static_cast<int32_t>(i);
        slot.starts_as_variable = slots[vector - 1].starts_as_variable;
        slot.gradient_offset = -1;
        layout.entries_.push_back(std::move(slot));
      }
      layout.arena_bytes_ = start + length;
    }
    layout.ranges_.push_back(std::move(range));
  }
  for (dtype type : {dtype::float32, dtype::float64}) {
    gradient_range range{.type = type,
                         .first = layout.gradient_bytes_,
                         .last = layout.gradient_bytes_,
                         .variables = staggered(layout.arena_bytes_, vectors),
                         .slots = {},
                         .assigned = true};
    for (const auto& v : contents_of(g).variables) {
      const auto& options = v.options;
      if (!o || v.next < 0 || options.type != type)
        continue;
      layout.entries_.push_back({.name = options.name,
                                 .type = type,
                                 .dims = options.dims,
                                 .replicas = options.replicas,
                                 .initial = options.initial,
                                 .offset = range.variables + range.last - range.first,
                                 .gradient_offset = range.last});
      range.last += padded(options.dims.elements() * size_of(type));
    }
    if (range.first == range.last)
      continue;
    ++vectors;
    layout.gradient_bytes_ = range.last;
    layout.arena_bytes_ = range.variables + range.last - range.first;
    layout.ranges_.push_back(std::move(range));
  }
  layout.flat_bytes_ = layout.gradient_bytes_;
  if (batch_rows > 0)
    if (auto added = layout.add_states(carried_states(contents_of(g)), batch_rows); !added)
      return fail(added.error());
  const auto looked_up = only_looked_up(contents_of(g));
  layout.sort_names();
  for (const auto& range : layout.ranges_)
    for (size_t i = 0; i < variables.size(); ++i) {
      const auto& options = variables[i].options;
      if (range.assigned || rules[i] != range.rule || options.type != range.type
          || needs_whole_variables(rule_at(*o, range.rule)) || options.dims.elements() == 0
          || !looked_up[static_cast<size_t>(variables[i].node)])
        continue;
      const int32_t entry = layout.find(options.name);
      const auto& e = layout.entries_[static_cast<size_t>(entry)];
      const int64_t rows = options.dims[0];
      layout.sparse_.push_back({entry, e.type, e.gradient_offset, e.gradient_offset + padded_bytes(e), rows,
                                options.dims.elements() / rows * size_of(e.type), layout.gradient_bytes_});
      layout.gradient_bytes_ += padded((rows + 63) / 64 * 8);
    }
  for (size_t i = 0; i < variables.size(); ++i) {
    const auto& options = variables[i].options;
    if (rules[i] || (o && variables[i].next >= 0))
      continue;
    layout.entries_.push_back({.name = options.name,
                               .type = options.type,
                               .dims = options.dims,
                               .trainable = options.trainable,
                               .updated = false,
                               .replicas = options.replicas,
                               .initial = options.initial,
                               .offset = layout.shared_bytes_});
    layout.shared_bytes_ += padded(options.dims.elements() * size_of(options.type));
  }
  layout.sort_names();
  const auto name_of = [&layout](int32_t i) -> const std::string& {
    return layout.entries_[static_cast<size_t>(i)].name;
  };
  const auto same = [&](int32_t a, int32_t b) { return name_of(a) == name_of(b); };
  if (const auto twice = std::adjacent_find(layout.by_name_.begin(), layout.by_name_.end(), same);
      twice != layout.by_name_.end())
    return fail(errc::invalid_argument, "two variables or slots are named '" + name_of(*twice) + "'");
  return layout;
}

expected<void> parameter_layout::add_states(std::span<const graph_state> states, int64_t rows) {
  arena_bytes_ = padded(arena_bytes_);
  for (const auto& s : states) {
    std::vector<int64_t> extents{rows};
    for (size_t axis = 1; axis < s.options.dims.size(); ++axis)
      extents.push_back(s.options.dims[axis].coefficient);
    std::optional<int64_t> elements = 1;
    for (const int64_t e : extents)
      elements = elements ? product_within_limit(*elements, e) : elements;
    const shape dims{std::span<const int64_t>{extents}};
    if (!elements)
      return fail(errc::invalid_argument,
                  "the state '" + s.options.name + "' would have more than 2^48 elements: " + to_text(dims));
    entries_.push_back({.name = s.options.name,
                        .type = s.options.type,
                        .dims = dims,
                        .carried = true,
                        .initial = s.options.initial,
                        .offset = arena_bytes_});
    arena_bytes_ += padded(*elements * size_of(s.options.type));
  }
  return {};
}

void parameter_layout::sort_names() {
  by_name_.resize(entries_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0);
  std::sort(by_name_.begin(), by_name_.end(), [this](int32_t a, int32_t b) {
    return entries_[static_cast<size_t>(a)].name < entries_[static_cast<size_t>(b)].name;
  });
}

int32_t parameter_layout::find(std::string_view name) const {
  const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), name, [this](int32_t i, std::string_view wanted) {
    return entries_[static_cast<size_t>(i)].name < wanted;
  });
  return at != by_name_.end() && entries_[static_cast<size_t>(*at)].name == name ? *at : -1;
}

std::pair<int64_t, int64_t> parameter_layout::slice(int r, int R) const {
  // Slices are whole cache lines, divided as evenly as possible.
  const auto cut = [this, R](int64_t index) {
    const int64_t even = flat_bytes_ / line * index / R * line;
    if (!whole_variables_)
      return even;
    int64_t next = flat_bytes_;
    for (const auto& e : entries_)
      if (e.gradient_offset >= even)
        next = std::min(next, e.gradient_offset);
    return next;
  };
  return {cut(r), cut(r + 1)};
}

std::vector<parameter_piece> parameter_layout::pieces(int r, int R) const {
  const auto [first, last] = slice(r, R);
  std::vector<parameter_piece> runs;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const auto& e = entries_[i];
    const int64_t count = e.dims.elements(), size = size_of(e.type);
    if (e.carried) {
      const int64_t rows = e.dims[0] / R, row = count / e.dims[0];
      runs.push_back({static_cast<int32_t>(i), r * rows * row, rows * row});
      continue;
    }
    const int64_t at = e.variable < 0 ? e.gradient_offset : entries_[static_cast<size_t>(e.variable)].gradient_offset;
    if (at < 0) {
      if (r == 0)
        runs.push_back({static_cast<int32_t>(i), 0, count});
      continue;
    }
    const int64_t from = std::clamp<int64_t>(first - at, 0, count * size) / size;
    const int64_t to = std::clamp<int64_t>(last - at, 0, count * size) / size;
    if (from < to)
      runs.push_back({static_cast<int32_t>(i), from, to - from});
  }
  return runs;
}

}  // namespace troupe
