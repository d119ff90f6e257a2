#include "words/checkpoint_id.hpp"
#include "words/text.hpp"

#include <troupe/checkpoint_ref.hpp>

#include <charconv>

namespace troupe {

namespace {

constexpr std::string_view newest_text = "newest", best_text = "best";

bool names_checkpoint(std::string_view path) { return id_of_checkpoint(path).has_value(); }

}  // namespace

std::string to_string(const checkpoint_ref& which) {
  switch (which.what) {
    case checkpoint_ref::kind::newest: return std::string{newest_text};
    case checkpoint_ref::kind::best: return std::string{best_text};
    case checkpoint_ref::kind::step: return std::to_string(which.step);
    case checkpoint_ref::kind::path: return which.path;
  }
  return {};
}

expected<checkpoint_ref> parse_checkpoint_ref(std::string_view text) {
  if (text == newest_text)
    return checkpoint_ref::newest();
  if (text == best_text)
    return checkpoint_ref::best();
  int64_t step = 0;
  if (const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), step);
      failed == std::errc{} && end == text.data() + text.size() && step >= 0)
    return checkpoint_ref::of_step(step);
  if (names_checkpoint(text))
    return checkpoint_ref::of_path(std::string{text});
  return fail(errc::invalid_argument, quoted(text) + " names no checkpoint: it is newest, best, a step such as "
                                                     "390, or a path such as "
                                        "runs/fashion/model.ckpt-390");
}

expected<void> validate(const checkpoint_ref& which) {
  if (which.what == checkpoint_ref::kind::step && which.step < 0)
    return fail(errc::invalid_argument,
                "the step of a checkpoint must be at least 0, not " + std::to_string(which.step));
  if (which.what == checkpoint_ref::kind::path && !names_checkpoint(which.path))
    return fail(errc::invalid_argument,
                quoted(which.path) + " names no checkpoint; a path is dir/model.ckpt-<step>, as inspect lists them");
  return {};
}

std::string option_text(const checkpoint_ref& which) { return to_string(which); }

bool parse_option(std::string_view text, checkpoint_ref& into) {
  auto which = parse_checkpoint_ref(text);
  if (which)
    into = std::move(*which);
  return which.has_value();
}

}  // namespace troupe
