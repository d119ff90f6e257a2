#include "words/checkpoint_id.hpp"

#include <charconv>

namespace troupe {

namespace {

constexpr std::string_view before_iteration = "-iteration-";

std::optional<int64_t> take_number(std::string_view& text) {
  int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || number < 0)
    return {};
  const std::string_view spelled{text.data(), static_cast<size_t>(end - text.data())};
  if (spelled != std::to_string(number))
    return {};
  text.remove_prefix(spelled.size());
  return number;
}

}  // namespace

std::string to_string(checkpoint_id id) {
  return std::to_string(id.step)
         + (id.iteration == 0 ? "" : std::string{before_iteration} + std::to_string(id.iteration));
}

std::optional<checkpoint_id> take_checkpoint_id(std::string_view& text) {
  const auto step = take_number(text);
  if (!step || !text.starts_with(before_iteration))
    return step ? std::optional{checkpoint_id{*step}} : std::nullopt;
  text.remove_prefix(before_iteration.size());
  const auto iteration = take_number(text);
  return iteration && *iteration > 0 ? std::optional{checkpoint_id{*step, *iteration}} : std::nullopt;
}

std::optional<checkpoint_id> parse_checkpoint_id(std::string_view text) {
  const auto id = take_checkpoint_id(text);
  return text.empty() ? id : std::nullopt;
}

std::string checkpoint_name(checkpoint_id id) { return std::string{checkpoint_stem} + to_string(id); }

std::optional<checkpoint_id> id_of_checkpoint(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);  // Without a '/', npos + 1 is 0.
  if (!path.starts_with(checkpoint_stem))
    return std::nullopt;
  path.remove_prefix(checkpoint_stem.size());
  return parse_checkpoint_id(path);
}

checkpoint_choice choice_of(const checkpoint_ref& which) {
  switch (which.what) {
    case checkpoint_ref::kind::newest: break;
    case checkpoint_ref::kind::best: return {.best = true};
    case checkpoint_ref::kind::step: return {.step = which.step};
    case checkpoint_ref::kind::path:
      if (const auto id = id_of_checkpoint(which.path))
        return {.step = id->step, .iteration = id->iteration};
  }
  return {};
}

}  // namespace troupe
