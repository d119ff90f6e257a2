#include "compute/optimizers/planned_update.hpp"

#include "compute/optimizers/norms.hpp"

#include <cmath>
#include <cstring>

namespace troupe {
namespace {

double own_weight_decay(const optimizer& o) {
  if (const auto* rule = std::get_if<adamw>(&o.rule))
    return rule->weight_decay;
  if (const auto* rule = std::get_if<lamb>(&o.rule))
    return rule->weight_decay;
  return o.weight_decay;
}

/// Σ g² of elements that were clipped by value.
template <class T>
double clipped_squares(const std::byte* gradient, int64_t bytes, double limit) {
  const T* g = reinterpret_cast<const T*>(gradient);
  return chunked_sum(bytes / static_cast<int64_t>(sizeof(T)), [g, limit](int64_t i) {
    const double value = std::min(std::max(static_cast<double>(g[i]), -limit), limit);
    return value * value;
  });
}

/// By which a gradient of this norm is multiplied; exactly 1 where it is within the limit.
double scale_to(double limit, double norm) { return limit > 0 && norm > limit ? limit / norm : 1; }

}  // namespace

expected<planned_update> planned_update::of(const optimizer& o, const parameter_layout& layout) {
  if (auto valid = validate(o); !valid)
    return fail(valid.error());
  planned_update u;
  u.optimizer_ = o;
  u.runs_.assign(layout.runs().begin(), layout.runs().end());
  const auto slots = slots_of(o);
  for (const auto& run : u.runs_)
    if (!run.assigned && run.slots.size() != slots.size())
      return fail(errc::invalid_argument, "the store has not the slots of " + to_string(o));
  const bool each_alone = o.clip.norm > 0 || o.clip.global_norm > 0 || needs_whole_variables(o);
  for (const auto& e : layout.entries()) {
    if (e.gradient_offset < 0 || !e.trainable)
      continue;
    segment s{.first = e.gradient_offset, .last = e.gradient_offset + padded_bytes(e), .weight_decay = own_weight_decay(o)};
    while (u.runs_[s.run].last <= s.first)
      ++s.run;
    if (u.runs_[s.run].assigned)
      continue;  // The model writes those itself: what stands in the gradient's place is their next value.
    if (const auto* group = group_of(o, e.name)) {
      s.rate_factor = group->rate_factor;
      s.weight_decay = group->weight_decay ? static_cast<double>(*group->weight_decay) : s.weight_decay;
    }
    auto* before = u.segments_.empty() ? nullptr : &u.segments_.back();
    if (before && !each_alone && before->run == s.run && before->rate_factor == s.rate_factor && before->weight_decay == s.weight_decay)
      before->last = s.last;
    else if (s.first < s.last)
      u.segments_.push_back(s);
  }
  return u;
}

void planned_update::measure(std::pair<int64_t, int64_t> slice, const std::byte* gradient) {
  const auto& clip = optimizer_.clip;
  const double limit = clip.value > 0 ? static_cast<double>(clip.value) : std::numeric_limits<double>::infinity();
  double squares = 0;
  for (auto& s : segments_) {
    if (clip.global_norm == 0 && (s.last <= slice.first || slice.second <= s.first))
      continue;
    const double sum = runs_[s.run].type == dtype::float64 ? clipped_squares<double>(gradient + s.first, s.last - s.first, limit)
                                                           : clipped_squares<float>(gradient + s.first, s.last - s.first, limit);
    s.gradient_scale = scale_to(clip.norm, std::sqrt(sum));
    squares += sum * s.gradient_scale * s.gradient_scale;
  }
  if (clip.global_norm > 0)
    for (const double scale = scale_to(clip.global_norm, std::sqrt(squares)); auto& s : segments_)
      s.gradient_scale *= scale;
}

template <class T>
void planned_update::apply_to(const segment& s, update_terms terms, int64_t first, int64_t last, const std::byte* gradient, const std::byte* from,
                              std::byte* to) const {
  const auto& run = runs_[s.run];
  const int64_t into = first - run.first;
  const auto read = [&](int64_t vector) { return reinterpret_cast<const T*>(from + vector + into); };
  const auto write = [&](int64_t vector) { return reinterpret_cast<T*>(to + vector + into); };
  update_range<T> x{.n = (last - first) / static_cast<int64_t>(sizeof(T)), .g = reinterpret_cast<const T*>(gradient + first),
                    .v = read(run.variables), .v_to = write(run.variables)};
  size_t rule_slots = run.slots.size();
  if (optimizer_.moving_average > 0) {
    x.average = read(run.slots[--rule_slots]);
    x.average_to = write(run.slots[rule_slots]);
  }
  for (size_t i = 0; i < rule_slots; ++i) {
    x.slot[i] = read(run.slots[i]);
    x.slot_to[i] = write(run.slots[i]);
  }
  std::visit([&](const auto& rule) { update(rule, terms, x); }, optimizer_.rule);
}

void planned_update::apply(int64_t step, std::pair<int64_t, int64_t> slice, const std::byte* gradient, const std::byte* from, std::byte* to) {
  const auto& clip = optimizer_.clip;
  for (const auto& run : runs_)
    if (const int64_t first = std::max(slice.first, run.first), last = std::min(slice.second, run.last); run.assigned && first < last)
      std::memcpy(to + run.variables + (first - run.first), gradient + first, static_cast<size_t>(last - first));
  if (clip.norm > 0 || clip.global_norm > 0)
    measure(slice, gradient);
  update_terms common{.t = step + 1, .average_decay = optimizer_.moving_average};
  if (clip.value > 0)
    common.clip_value = clip.value;
  const double rate = rate_at(optimizer_, step), factor = schedule_factor(optimizer_, step);
  for (const auto& s : segments_) {
    const int64_t first = std::max(slice.first, s.first), last = std::min(slice.second, s.last);
    if (first >= last)
      continue;
    auto terms = common;
    terms.rate = rate * s.rate_factor;
    terms.gradient_scale = s.gradient_scale;
    terms.weight_decay = s.weight_decay;
    terms.keep = 1 - factor * s.weight_decay;  // Rules with a decay inside do not look at it.
    if (runs_[s.run].type == dtype::float64)
      apply_to<double>(s, terms, first, last, gradient, from, to);
    else
      apply_to<float>(s, terms, first, last, gradient, from, to);
  }
}

}  // namespace troupe
