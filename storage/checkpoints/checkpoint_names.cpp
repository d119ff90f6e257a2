#include "storage/checkpoints/checkpoint_names.hpp"

#include "words/text.hpp"

#include <charconv>

namespace troupe {

namespace {

constexpr std::string_view stem = "model.ckpt-";
constexpr std::string_view manifest_ending = ".manifest.json";
constexpr std::string_view shard_ending = ".safetensors";

/// Removes "model.ckpt-<step>" from the front. Only one spelling of a step is accepted; otherwise two names would be
/// one step.
std::optional<int64_t> take_step(std::string_view& name) {
  if (!name.starts_with(stem))
    return {};
  const auto digits = name.substr(stem.size());
  int64_t step = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (code != std::errc{} || step < 0)
    return {};
  const std::string_view spelled{digits.data(), static_cast<size_t>(end - digits.data())};
  if (spelled != std::to_string(step))
    return {};
  name.remove_prefix(stem.size() + spelled.size());
  return step;
}

bool take_digits(std::string_view& text) {
  const size_t n = text.find_first_not_of("0123456789");
  text.remove_prefix(n == std::string_view::npos ? text.size() : n);
  return n != 0;
}

bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what))
    return false;
  text.remove_prefix(what.size());
  return true;
}

}  // namespace

std::string checkpoint_name(int64_t step) {
  return std::string{stem} + std::to_string(step);
}

std::string manifest_name(int64_t step) {
  return checkpoint_name(step) + std::string{manifest_ending};
}

std::string shard_name(int64_t step, int64_t index, int64_t count) {
  return checkpoint_name(step) + "-" + zero_padded(index, 5) + "-of-" + zero_padded(count, 5) + std::string{shard_ending};
}

std::optional<int64_t> step_of_checkpoint(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0.
  const auto step = take_step(path);
  return path.empty() ? step : std::nullopt;
}

std::optional<int64_t> step_of_manifest(std::string_view file_name) {
  const auto step = take_step(file_name);
  return file_name == manifest_ending ? step : std::nullopt;
}

std::optional<int64_t> step_of_shard(std::string_view file_name) {
  const auto step = take_step(file_name);
  const bool shard = take(file_name, "-") && take_digits(file_name) && take(file_name, "-of-") && take_digits(file_name);
  return shard && file_name == shard_ending ? step : std::nullopt;
}

bool is_temporary(std::string_view file_name) {
  if (!file_name.ends_with(".tmp"))
    return false;
  file_name.remove_suffix(4);
  return file_name == state_file_name || step_of_manifest(file_name) || step_of_shard(file_name);
}

}  // namespace troupe
