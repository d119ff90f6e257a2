// Optimizer updates: one fused sweep over a range of the flat vectors.
#pragma once

#include <troupe/graph.hpp>
#include <troupe/optimizer.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <vector>

namespace troupe {

/// The slot that holds a moving average of its variable.
inline constexpr std::string_view moving_average_slot = "ExponentialMovingAverage";

/// A slot: a vector beside the variables, in their layout.
struct slot_description {
  std::string_view name;
  initializer initial = init::zeros();  ///< Always a constant.
  bool starts_as_variable = false;      ///< Starts as a copy of its variable instead.
};
// An optimizer has several rules if its groups have rules of their own: rule g is that of group g, and `own_rule` the
// optimizer's.

inline constexpr int32_t own_rule = -1;
inline const update_rule& rule_at(const optimizer& o, int32_t g) {
  return g == own_rule ? o.rule : *o.groups[static_cast<size_t>(g)].rule;
}
/// The slots that each variable under a rule has, in order: those of the rule, then the moving average.
std::vector<slot_description> slots_of(const optimizer& o, int32_t g = own_rule);
/// Whether updating a part of a variable needs the whole of it, so that slices must consist of whole variables.
bool needs_whole_variables(const update_rule& rule);
/// Whether one of the optimizer's rules needs whole variables.
bool any_needs_whole_variables(const optimizer& o);
inline constexpr std::string_view
    no_decay_of_ftrl = "means nothing to ftrl, whose variables are made anew at each step; it has l2 and l2_shrinkage";
/// Whether rows that do not occur in a batch are updated with a zero gradient rather than skipped.
bool updates_every_row(const update_rule& rule);

/// Finds a variable's group among many with a few look-ups. Keeps a reference to the groups.
class variable_groups {
 public:
  explicit variable_groups(std::span<const variable_group> groups);
  /// The first group that matches, or null.
  const variable_group* of(std::string_view variable) const;
  /// The first group that matches and has a rule, or `own_rule`.
  int32_t rule_of(std::string_view variable) const;
  bool freeze(std::string_view variable) const;
  /// The first group that matches none of `variables`, or null.
  const variable_group* first_without(std::span<const std::string_view> variables) const;

 private:
  /// For each pair of prefix and suffix that matches, calls f with the groups of that pair, in their order.
  template <class F>
  void each_fitting(std::string_view variable, F f) const;

  std::span<const variable_group> groups_;
  std::set<std::pair<size_t, size_t>> lengths_;  ///< Lengths of prefixes and suffixes: few, even with many groups.
  std::map<std::pair<std::string_view, std::string_view>, std::vector<size_t>> by_ends_;
};
/// `rate_at` for variables under rule g.
double rate_of_rule(const optimizer& o, int32_t g, int64_t step);
/// The schedule, warm-up included, applied to a rate of 1: for the update after `step` others, for variables under rule
/// g.
double schedule_factor(const optimizer& o, int32_t g, int64_t step);

inline constexpr int rule_slots_max = 3;

/// n elements of variables and slots: whole packets. Each destination may be its source.
template <class T>
struct update_range {
  int64_t n = 0;
  const T* g = nullptr;
  const T* v = nullptr;
  T* v_to = nullptr;
  const T* slot[rule_slots_max] = {};
  T* slot_to[rule_slots_max] = {};
  const T* average = nullptr;  ///< Null: there is none.
  T* average_to = nullptr;
};

/// The terms of one update that are the same for all elements of a range.
struct update_terms {
  int64_t t = 1;    ///< The update being made, counted from 1.
  double rate = 0;  ///< The learning rate; replaces the rule's own.
  double clip_value = std::numeric_limits<double>::infinity();
  double gradient_scale = 1;  ///< Applied after clipping by value.
  double keep = 1;            ///< 1 - decoupled weight decay; multiplies the variable first.
  double weight_decay = 0;    ///< For rules with their own decay.
  double average_decay = 0;
};

template <class T>
void update(const gradient_descent& o, const update_terms& terms, const update_range<T>& x);
template <class T>
void update(const proximal_gradient_descent& o, const update_terms& terms, const update_range<T>& x);
template <class T>
void update(const momentum& o, const update_terms& terms, const update_range<T>& x);
template <class T>
void update(const adagrad& o, const update_terms& terms, const update_range<T>& x);
template <class T>
void update(const rmsprop& o, const update_terms& terms, const update_range<T>& x);
template <class T>
void update(const adadelta& o, const update_terms& terms, const update_range<T>& x);
template <class T>
void update(const adam& o, const update_terms& terms, const update_range<T>& x);
template <class T>
void update(const adamw& o, const update_terms& terms, const update_range<T>& x);
template <class T>
void update(const adamax& o, const update_terms& terms, const update_range<T>& x);
template <class T>
void update(const amsgrad& o, const update_terms& terms, const update_range<T>& x);
template <class T>
void update(const ftrl& o, const update_terms& terms, const update_range<T>& x);
/// x is one whole variable.
template <class T>
void update(const lamb& o, const update_terms& terms, const update_range<T>& x);

}  // namespace troupe
