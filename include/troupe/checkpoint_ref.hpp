// A reference to a checkpoint: the newest, the best, the one of a step, or one by its path.
// Not needed to begin with.
//
//   tr::evaluate(estimator, {.input = test}, tr::checkpoint_ref::of_step(390));
//   auto variables = tr::load_variables("runs/fashion", tr::checkpoint_ref::best());
//
// The default is the newest wherever a checkpoint can be named.
#pragma once

#include <troupe/api.hpp>
#include <troupe/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace troupe {

/// A value, made by the functions below. A default-constructed one is the newest.
struct checkpoint_ref {
  enum class kind : uint8_t {
    newest,  ///< The newest undamaged one; the best one instead if its job had keep_best::restore_best.
    best,    ///< The best one that its job kept (train_spec::keep_best). not_found: none is kept.
    step,    ///< The newest one of `step`, since a search has several of one step. not_found: none.
    path,    ///< The one at `path`, "runs/fashion/model.ckpt-390", in any model directory.
  };
  kind what = kind::newest;
  int64_t step = 0;       ///< For kind::step; at least 0.
  std::string path = {};  ///< For kind::path; the prefix of the files, without their endings.

  static checkpoint_ref newest() { return {}; }
  static checkpoint_ref best() { return {.what = kind::best}; }
  static checkpoint_ref of_step(int64_t step) { return {.what = kind::step, .step = step}; }
  static checkpoint_ref of_path(std::string path) { return {.what = kind::path, .path = std::move(path)}; }

  friend bool operator==(const checkpoint_ref&, const checkpoint_ref&) = default;
};

/// "newest", "best", "390", "runs/fashion/model.ckpt-390"
TROUPE_API std::string to_string(const checkpoint_ref& which);
/// Reads the output of `to_string`. invalid_argument naming the text: not one of the words, not a whole number of at
/// least 0, and not a path whose last part is model.ckpt-<step>.
TROUPE_API expected<checkpoint_ref> parse_checkpoint_ref(std::string_view text);
/// invalid_argument: a step below 0, or a path that names no checkpoint.
TROUPE_API expected<void> validate(const checkpoint_ref& which);

/// The text of such a reference as a field of options, and the way back (options/option_field.hpp).
TROUPE_API std::string option_text(const checkpoint_ref& which);
TROUPE_API bool parse_option(std::string_view text, checkpoint_ref& into);

}  // namespace troupe
