#include "compute/program/planned_update.hpp"

#include "compute/optimizers/norms.hpp"
#include "compute/optimizers/packet_update.hpp"
#include "compute/parameters/touched_rows.hpp"

#include <cmath>
#include <cstring>
#include <utility>

namespace troupe {
namespace {

constexpr int64_t line = 64;
constexpr double not_measured = -1;  ///< No sum of squares.

/// The update of rows that do not occur, under a rule that skips them: only the moving average changes.
struct unmoved {};

template <class T>
void update(unmoved, const update_terms& terms, const update_range<T>& x) {
  const auto rest = packet_of<T>(1 - terms.average_decay);
  for (int64_t i = 0; i < x.n; i += simd::width<T>) {
    const auto v = simd::load(x.v + i), average = simd::load(x.average + i);
    simd::store(x.v_to + i, v);
    simd::store(x.average_to + i, simd::pmadd(rest, simd::psub(v, average), average));
  }
}

double own_weight_decay(const optimizer& o, int32_t g) {
  if (const auto* rule = std::get_if<adamw>(&rule_at(o, g)))
    return rule->weight_decay;
  if (const auto* rule = std::get_if<lamb>(&rule_at(o, g)))
    return rule->weight_decay;
  return o.weight_decay;
}

/// The factor that clips a gradient of this norm; exactly 1 where it is within the limit.
double scale_to(double limit, double norm) { return limit > 0 && norm > limit ? limit / norm : 1; }

}  // namespace

expected<planned_update> planned_update::of(const optimizer& o, const parameter_layout& layout) {
  if (auto valid = validate(o); !valid)
    return fail(valid.error());
  planned_update u;
  u.optimizer_ = o;
  u.ranges_.assign(layout.ranges().begin(), layout.ranges().end());
  for (const auto& range : u.ranges_)
    if (!range.assigned && range.slots.size() != slots_of(o, range.rule).size())
      return fail(errc::invalid_argument, "the store has not the slots of " + to_text(o));
  const variable_groups groups{o.groups};
  const bool clips_norms = o.clip.norm > 0 || o.clip.global_norm > 0;
  const bool each_alone = clips_norms || any_needs_whole_variables(o);
  for (const auto& e : layout.entries()) {
    if (e.gradient_offset < 0 || !e.trainable)
      continue;
    segment s{.first = e.gradient_offset, .last = e.gradient_offset + padded_bytes(e)};
    while (u.ranges_[s.range].last <= s.first)
      ++s.range;
    if (u.ranges_[s.range].assigned)
      continue;  // The model assigns these variables: the gradient's place holds their next value.
    s.weight_decay = own_weight_decay(o, u.ranges_[s.range].rule);
    if (const auto* group = groups.of(e.name)) {
      s.rate_factor = group->rate_factor;
      s.weight_decay = group->weight_decay ? static_cast<double>(*group->weight_decay) : s.weight_decay;
    }
    for (const auto& rows : layout.sparse())
      if (rows.first == s.first)
        s.rows = rows;
    auto* before = u.segments_.empty() ? nullptr : &u.segments_.back();
    if (before && !each_alone && !s.rows && !before->rows && before->range == s.range
        && before->rate_factor == s.rate_factor && before->weight_decay == s.weight_decay)
      before->last = s.last;
    else if (s.first < s.last)
      u.segments_.push_back(s);
  }
  u.flat_bytes_ = layout.flat_bytes();
  if (clips_norms)
    for (auto& s : u.segments_) {
      s.chunk_bytes = norm_chunk * (u.ranges_[s.range].type == dtype::float64 ? 8 : 4);
      s.first_chunk = u.norm_chunks_;
      u.norm_chunks_ += (s.last - s.first + s.chunk_bytes - 1) / s.chunk_bytes;
    }
  return u;
}

/// Σ g² over bytes [first, last) of a variable's chunk, after clipping by value.
template <class T>
double planned_update::clipped_squares(const segment& s, int64_t first, int64_t last, gradient_view gradient) const {
  const double limit = optimizer_.clip.value > 0 ? static_cast<double>(optimizer_.clip.value)
                                                 : std::numeric_limits<double>::infinity();
  constexpr auto size = static_cast<int64_t>(sizeof(T));
  const T* g = reinterpret_cast<const T*>(gradient.values + first);
  const auto squares = [g, limit](int64_t i) {
    const double value = std::min(std::max(static_cast<double>(g[i]), -limit), limit);
    return value * value;
  };
  if (!s.rows)
    return chunked_sum((last - first) / size, squares);
  chunked_total sum;
  const auto* const touched = reinterpret_cast<const uint64_t*>(gradient.bits + (s.rows->bits - flat_bytes_));
  for_touched_lines(*s.rows, touched, {first, last},
                    [&](int64_t from, int64_t to) { sum.add((from - first) / size, (to - first) / size, squares); });
  return sum.total();
}

double planned_update::chunk_squares(const segment& s, int64_t first, int64_t last, gradient_view gradient) const {
  return ranges_[s.range].type == dtype::float64 ? clipped_squares<double>(s, first, last, gradient)
                                                 : clipped_squares<float>(s, first, last, gradient);
}

void planned_update::measure(std::pair<int64_t, int64_t> slice, gradient_view gradient,
                             std::span<double> squares) const {
  assert(std::ssize(squares) == norm_chunks_);
  if (norm_chunks_ == 0)
    return;
  for (const auto& s : segments_) {
    const int64_t before = std::max<int64_t>(0, slice.first - s.first);
    for (int64_t chunk = (before + s.chunk_bytes - 1) / s.chunk_bytes;; ++chunk) {
      const int64_t first = s.first + chunk * s.chunk_bytes, last = std::min(first + s.chunk_bytes, s.last);
      if (first >= std::min(s.last, slice.second))
        break;
      squares[static_cast<size_t>(s.first_chunk + chunk)] = last <= slice.second
                                                                ? chunk_squares(s, first, last, gradient)
                                                                : not_measured;
    }
  }
}

void planned_update::prepare(gradient_view gradient, std::span<const double> squares) {
  assert(std::ssize(squares) == norm_chunks_);
  if (norm_chunks_ == 0)
    return;
  const auto& clip = optimizer_.clip;
  double all = 0;
  for (auto& s : segments_) {
    double sum = 0;
    auto measured = squares.begin() + s.first_chunk;
    for (int64_t first = s.first; first < s.last; first += s.chunk_bytes, ++measured)
      sum += *measured == not_measured ? chunk_squares(s, first, std::min(first + s.chunk_bytes, s.last), gradient)
                                       : *measured;
    s.gradient_scale = scale_to(clip.norm, std::sqrt(sum));
    all += sum * s.gradient_scale * s.gradient_scale;
  }
  if (clip.global_norm > 0)
    for (const double scale = scale_to(clip.global_norm, std::sqrt(all)); auto& s : segments_)
      s.gradient_scale *= scale;
}

template <class T>
update_range<T> planned_update::range(const segment& s, int64_t first, int64_t last, const places& at) const {
  const auto& range = ranges_[s.range];
  const int64_t into = first - range.first;
  const auto read = [&](int64_t vector) { return reinterpret_cast<const T*>(at.from + vector + into); };
  const auto write = [&](int64_t vector) { return reinterpret_cast<T*>(at.to + vector + into); };
  update_range<T> x{.n = (last - first) / static_cast<int64_t>(sizeof(T)),
                    .g = reinterpret_cast<const T*>(at.gradient + first),
                    .v = read(range.variables),
                    .v_to = write(range.variables)};
  size_t rule_slots = range.slots.size();
  if (optimizer_.moving_average > 0) {
    x.average = read(range.slots[--rule_slots]);
    x.average_to = write(range.slots[rule_slots]);
  }
  for (size_t i = 0; i < rule_slots; ++i) {
    x.slot[i] = read(range.slots[i]);
    x.slot_to[i] = write(range.slots[i]);
  }
  return x;
}

template <class T, class Rule>
void planned_update::apply_to_elements(const Rule& rule, const segment& s, const update_terms& terms, int64_t first,
                                       int64_t last, const places& at) const {
  while (first < last) {
    const int64_t begin = first / line * line;
    if (begin == first && last - first >= line) {
      const int64_t end = last / line * line;
      update(rule, terms, range<T>(s, first, end, at));
      first = end;
      continue;
    }
    const int64_t end = std::min(begin + line, last);
    alignas(line) T made[rule_slots_max + 2][line / sizeof(T)] = {};
    auto x = range<T>(s, begin, begin + line, at);
    const T* const inputs[] = {x.v, x.average, x.slot[0], x.slot[1], x.slot[2]};
    T** const outputs[] = {&x.v_to, &x.average_to, &x.slot_to[0], &x.slot_to[1], &x.slot_to[2]};
    T* belong[std::size(outputs)] = {};
    for (size_t i = 0; i < std::size(outputs); ++i)
      if (inputs[i]) {
        std::memcpy(made[i], inputs[i], line);  // Elements that the rule does not change are written back unchanged.
        belong[i] = std::exchange(*outputs[i], made[i]);
      }
    update(rule, terms, x);
    for (size_t i = 0; i < std::size(outputs); ++i)
      if (belong[i])
        std::memcpy(reinterpret_cast<std::byte*>(belong[i]) + (first - begin),
                    reinterpret_cast<const std::byte*>(made[i]) + (first - begin), static_cast<size_t>(end - first));
    first = end;
  }
}

template <class T>
void planned_update::apply_to_rows(const segment& s, const update_terms& terms, int64_t first, int64_t last,
                                   places at) const {
  const bool every = updates_every_row(rule_of(s));
  if (!every && at.from != at.to) {
    const auto& range = ranges_[s.range];
    const auto copy = [&](int64_t vector) {
      std::memcpy(at.to + vector + (first - range.first), at.from + vector + (first - range.first),
                  static_cast<size_t>(last - first));
    };
    copy(range.variables);
    std::for_each(range.slots.begin(), range.slots.end(), copy);
    at.from = at.to;
  }
  auto others = terms;
  others.keep = 1;
  std::visit(
      [&](const auto& rule) {
        for_row_runs(*s.rows, at.gradient, {first, last}, [&](int64_t from, int64_t to, bool touched) {
          if (touched || every)
            apply_to_elements<T>(rule, s, touched ? terms : others, from, to, at);
          else if (optimizer_.moving_average > 0)
            apply_to_elements<T>(unmoved{}, s, others, from, to, at);
        });
      },
      rule_of(s));
}

template <class T>
void planned_update::apply_to(const segment& s, const update_terms& terms, int64_t first, int64_t last,
                              const places& at) const {
  if (s.rows && !(updates_every_row(rule_of(s)) && terms.keep == 1))
    return apply_to_rows<T>(s, terms, first, last, at);
  std::visit([&](const auto& rule) { update(rule, terms, range<T>(s, first, last, at)); }, rule_of(s));
}

void planned_update::apply(int64_t step, std::pair<int64_t, int64_t> slice, const std::byte* gradient,
                           const std::byte* from, std::byte* to, double rate_factor) const {
  const auto& clip = optimizer_.clip;
  for (const auto& range : ranges_)
    if (const int64_t first = std::max(slice.first, range.first), last = std::min(slice.second, range.last);
        range.assigned && first < last)
      std::memcpy(to + range.variables + (first - range.first), gradient + first, static_cast<size_t>(last - first));
  update_terms common{.t = step + 1, .average_decay = optimizer_.moving_average};
  if (const auto t = static_cast<double>(common.t); optimizer_.moving_average_ramps)
    common.average_decay = std::min(common.average_decay, (1 + t) / (10 + t));
  if (clip.value > 0)
    common.clip_value = clip.value;
  int32_t of_rule = own_rule;
  double rate = rate_at(optimizer_, step), factor = schedule_factor(optimizer_, own_rule, step);
  for (const auto& s : segments_) {
    const int64_t first = std::max(slice.first, s.first), last = std::min(slice.second, s.last);
    if (first >= last)
      continue;
    if (const int32_t rule = ranges_[s.range].rule; rule != of_rule) {
      of_rule = rule;
      rate = rate_of_rule(optimizer_, rule, step);
      factor = schedule_factor(optimizer_, rule, step);
    }
    auto terms = common;
    terms.rate = rate * s.rate_factor * rate_factor;
    terms.gradient_scale = s.gradient_scale;
    terms.weight_decay = s.weight_decay;
    terms.keep = 1 - factor * rate_factor * s.weight_decay;  // Rules with their own decay ignore `keep`.
    if (ranges_[s.range].type == dtype::float64)
      apply_to<double>(s, terms, first, last, {gradient, from, to});
    else
      apply_to<float>(s, terms, first, last, {gradient, from, to});
  }
}

}  // namespace troupe
