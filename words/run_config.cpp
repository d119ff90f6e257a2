#include "words/text.hpp"

#include <troupe/options/run_config_fields.hpp>
#include <troupe/run_config.hpp>

#include <bit>

namespace troupe {

namespace {

/// Checks the rules between fields, and other rules that no range expresses.
expected<void> check_shards(const run_config& c) {
  if (!c.gradient_shards)
    return {};
  const int64_t shards = *c.gradient_shards;
  if (!std::has_single_bit(static_cast<uint64_t>(shards)))
    return fail(errc::invalid_argument, "gradient_shards must be a power of two, not " + option_text(shards));
  if (shards % c.replicas != 0)
    return fail(errc::invalid_argument, "gradient_shards (" + option_text(shards) + ") must be a multiple of replicas ("
                                            + option_text(c.replicas) + ")");
  return {};
}

/// The system would take what is before a NUL for the whole path.
expected<void> check_directory(const run_config& c) {
  if (c.model_dir && c.model_dir->find('\0') != std::string::npos)
    return fail(errc::invalid_argument,
                "model_dir must not have a NUL character, as " + quoted(printable(*c.model_dir)) + " has");
  return {};
}

}  // namespace

expected<void> validate(const run_config& c) {
  return check_fields(c)
      .and_then([&] { return check_shards(c); })
      .and_then([&] { return check_directory(c); })
      .and_then([&]() -> expected<void> {
        const auto trigger = resolve_checkpoint_trigger(c);
        return trigger ? expected<void>{} : fail(trigger.error());
      });
}

expected<checkpoint_trigger> resolve_checkpoint_trigger(const run_config& c) {
  const auto& steps = c.save_checkpoints_steps;
  const auto& secs = c.save_checkpoints_secs;
  if (steps.value() && secs.value())
    return fail(errc::invalid_argument, "at most one of save_checkpoints_steps (" + option_text(*steps.value())
                                            + ") and save_checkpoints_secs (" + option_text(*secs.value())
                                            + ") may have a value");
  if (!steps.mentioned() && !secs.mentioned())
    return checkpoint_trigger{.secs = 600};
  return checkpoint_trigger{steps.value(), secs.value()};
}

expected<run_config> settle_edit(const run_config& config, run_config edited) {
  const bool new_steps = edited.save_checkpoints_steps != config.save_checkpoints_steps
                         && edited.save_checkpoints_steps.value();
  const bool new_secs = edited.save_checkpoints_secs != config.save_checkpoints_secs
                        && edited.save_checkpoints_secs.value();
  if (new_steps && !new_secs)
    edited.save_checkpoints_secs = std::nullopt;
  if (new_secs && !new_steps)
    edited.save_checkpoints_steps = std::nullopt;
  if (auto ok = validate(edited); !ok)
    return fail(ok.error());
  return edited;
}

expected<run_config> replace(const run_config& config, std::string_view field, std::string_view value) {
  run_config edited = config;
  bool found = false;
  std::string known, right;  // Right: what the field accepts, where that is not `value`.
  each_field(edited, [&]<class T>(const auto& row, T& value_of_field) {
    known.append(known.empty() ? "" : ", ").append(row.name);
    if (row.name != field)
      return;
    found = true;
    if (T parsed{}; parse_option(value, parsed))
      value_of_field = std::move(parsed);
    else
      right = to_text(values_of<T>(row.range));
  });
  if (!found)
    return fail(errc::invalid_argument,
                "a run configuration has no field '" + std::string{field} + "'; it has " + known);
  if (!right.empty())
    return fail(errc::invalid_argument,
                std::string{field}.append(" must be ").append(right).append(", not '").append(value).append("'"));
  return settle_edit(config, std::move(edited));
}

}  // namespace troupe
