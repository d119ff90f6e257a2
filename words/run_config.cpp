#include <troupe/run_config.hpp>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace troupe {

namespace {

std::string text(int64_t value) { return std::to_string(value); }
std::string text(double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%g", value);
  return digits;
}

template <class T>
expected<void> at_least(const char* field, T value, T least) {
  if (value >= least)  // False for NaN, too.
    return {};
  return fail(errc::invalid_argument, std::string{field} + " must be at least " + text(least) + ", not " + text(value));
}

template <class T>
expected<void> at_least(const char* field, const std::optional<T>& value, T least) {
  return value ? at_least(field, *value, least) : expected<void>{};
}

expected<void> within(const char* field, int64_t value, int64_t least, int64_t most) {
  if (value > most)
    return fail(errc::invalid_argument, std::string{field} + " must be at most " + text(most) + ", not " + text(value));
  return at_least(field, value, least);
}

/// Limits for the threads of a process and for shards, far below what the plan's own numbers can hold.
constexpr int64_t threads_max = 1024, shards_max = int64_t{1} << 20;

expected<void> check_shards(const run_config& c) {
  if (!c.gradient_shards)
    return {};
  const int64_t shards = *c.gradient_shards;
  if (shards < 1 || !std::has_single_bit(static_cast<uint64_t>(shards)))
    return fail(errc::invalid_argument, "gradient_shards must be a power of two, not " + text(shards));
  if (shards > shards_max)
    return within("gradient_shards", shards, 1, shards_max);
  if (shards % c.replicas != 0)
    return fail(errc::invalid_argument, "gradient_shards (" + text(shards) + ") must be a multiple of replicas (" + text(c.replicas) + ")");
  return {};
}

/// A key without effect is refused, so that nobody relies on it.
expected<void> check_loops(const run_config& c) {
  const int64_t only = run_config{}.steps_per_loop;
  if (c.steps_per_loop == only)
    return {};
  return fail(errc::unimplemented, "steps_per_loop has no effect yet: it must be left at " + text(only) + ", not " + text(c.steps_per_loop));
}

}  // namespace

expected<void> validate(const run_config& c) {
  if (c.model_dir && c.model_dir->empty())
    return fail(errc::invalid_argument, "model_dir must not be ''");
  if (!(c.keep_checkpoint_every_n_hours > 0))
    return fail(errc::invalid_argument, "keep_checkpoint_every_n_hours must be more than 0, not " + text(c.keep_checkpoint_every_n_hours));
  if (c.save_checkpoints_secs.value() && std::isinf(*c.save_checkpoints_secs.value()))
    return fail(errc::invalid_argument, "save_checkpoints_secs must be finite, not " + text(*c.save_checkpoints_secs.value()));
  return at_least<int64_t>("save_summary_steps", c.save_summary_steps, 0)
    .and_then([&] { return at_least<int64_t>("save_checkpoints_steps", c.save_checkpoints_steps.value(), 0); })
    .and_then([&] { return at_least<double>("save_checkpoints_secs", c.save_checkpoints_secs.value(), 0); })
    .and_then([&] { return at_least<int64_t>("keep_checkpoint_max", c.keep_checkpoint_max, 0); })
    .and_then([&] { return at_least<int64_t>("log_step_count_steps", c.log_step_count_steps, 1); })
    .and_then([&] { return at_least<int64_t>("steps_per_loop", c.steps_per_loop, 1); })
    .and_then([&] { return check_loops(c); })
    .and_then([&] { return within("replicas", c.replicas, 1, threads_max); })
    .and_then([&] { return within("intra_op_threads", c.intra_op_threads, 1, threads_max); })
    .and_then([&] { return check_shards(c); })
    .and_then([&]() -> expected<void> {
      const auto trigger = resolve_checkpoint_trigger(c);
      return trigger ? expected<void>{} : fail(trigger.error());
    });
}

expected<checkpoint_trigger> resolve_checkpoint_trigger(const run_config& c) {
  const auto& steps = c.save_checkpoints_steps;
  const auto& secs = c.save_checkpoints_secs;
  if (steps.value() && secs.value())
    return fail(errc::invalid_argument, "at most one of save_checkpoints_steps (" + text(*steps.value()) + ") and save_checkpoints_secs ("
                                          + text(*secs.value()) + ") may have a value");
  if (!steps.mentioned() && !secs.mentioned())
    return checkpoint_trigger{.secs = 600};
  return checkpoint_trigger{steps.value(), secs.value()};
}

expected<run_config> replace(const run_config& config, const run_config_changes& changes) {
  run_config c = config;
  const auto apply = [](auto& field, const auto& changed) {
    if (changed.given())
      field = changed.value();
  };
  apply(c.model_dir, changes.model_dir);
  apply(c.seed, changes.seed);
  apply(c.save_summary_steps, changes.save_summary_steps);
  apply(c.save_checkpoints_steps, changes.save_checkpoints_steps);
  apply(c.save_checkpoints_secs, changes.save_checkpoints_secs);
  apply(c.keep_checkpoint_max, changes.keep_checkpoint_max);
  apply(c.keep_checkpoint_every_n_hours, changes.keep_checkpoint_every_n_hours);
  apply(c.log_step_count_steps, changes.log_step_count_steps);
  apply(c.steps_per_loop, changes.steps_per_loop);
  apply(c.gradient_shards, changes.gradient_shards);
  apply(c.replicas, changes.replicas);
  apply(c.intra_op_threads, changes.intra_op_threads);
  apply(c.debug_numerics, changes.debug_numerics);
  apply(c.recompute, changes.recompute);
  const auto& steps = changes.save_checkpoints_steps;
  const auto& secs = changes.save_checkpoints_secs;
  if (steps.given() && steps.value().value() && !secs.given())
    c.save_checkpoints_secs = std::nullopt;
  if (secs.given() && secs.value().value() && !steps.given())
    c.save_checkpoints_steps = std::nullopt;
  if (auto ok = validate(c); !ok)
    return fail(ok.error());
  return c;
}

// -- by name -------------------------------------------------------------------

namespace {

template <class T>
bool parse(std::string_view value, T& into) {
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), into);
  return failed == std::errc{} && end == value.data() + value.size();
}
bool parse(std::string_view value, bool& into) {
  into = value == "true";
  return into || value == "false";
}
bool parse(std::string_view value, std::string& into) {
  into = value;
  return true;
}
template <class T>
bool parse(std::string_view value, std::optional<T>& into) {
  if (value == "none")
    return into = std::nullopt, true;
  return parse(value, into.emplace());
}
template <class T>
bool parse(std::string_view value, setting<T>& into) {
  std::optional<T> parsed;
  if (!parse(value, parsed))
    return false;
  into = parsed ? setting<T>{*parsed} : setting<T>{std::nullopt};
  return true;
}
template <class T>
bool parse(std::string_view value, change<T>& into) {
  T parsed{};
  if (!parse(value, parsed))
    return false;
  into = std::move(parsed);
  return true;
}

}  // namespace

expected<run_config> replace(const run_config& config, std::string_view field, std::string_view value) {
  run_config_changes changes;
  std::string known;
  bool found = false, fits = true;
  const auto visit = [&](std::string_view name, auto& changed) {
    known += (known.empty() ? "" : ", ") + std::string{name};
    if (name == field) {
      found = true;
      fits = parse(value, changed);
    }
  };
  visit("model_dir", changes.model_dir);
  visit("seed", changes.seed);
  visit("save_summary_steps", changes.save_summary_steps);
  visit("save_checkpoints_steps", changes.save_checkpoints_steps);
  visit("save_checkpoints_secs", changes.save_checkpoints_secs);
  visit("keep_checkpoint_max", changes.keep_checkpoint_max);
  visit("keep_checkpoint_every_n_hours", changes.keep_checkpoint_every_n_hours);
  visit("log_step_count_steps", changes.log_step_count_steps);
  visit("steps_per_loop", changes.steps_per_loop);
  visit("gradient_shards", changes.gradient_shards);
  visit("replicas", changes.replicas);
  visit("intra_op_threads", changes.intra_op_threads);
  visit("debug_numerics", changes.debug_numerics);
  visit("recompute", changes.recompute);
  if (!found)
    return fail(errc::invalid_argument, "a run configuration has no field '" + std::string{field} + "'; it has " + known);
  if (!fits)
    return fail(errc::invalid_argument, std::string{field} + " cannot be '" + std::string{value} + "'");
  return replace(config, changes);
}

}  // namespace troupe
