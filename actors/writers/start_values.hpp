// The values that a new job begins with in place of initial ones: a warm start by the user's settings.
//
// Which variables are meant follows from the settings and their names alone, so that a resumed job freezes the same ones without
// looking at the source. The source is read only where there is no checkpoint; values are not kept. Used by one thread at a time.
#pragma once

#include "actors/writers/checkpoint_loading.hpp"

#include <troupe/warm_start.hpp>

#include <set>

namespace troupe {

class start_values {
 public:
  /// The settings are valid.
  start_values(std::shared_ptr<file_system> files, warm_start_settings settings);
  ~start_values();

  /// Names a variable that the model would train, were it not frozen.
  void add_trainable(std::string name) { trainable_.insert(std::move(name)); }
  bool freezes() const noexcept { return settings_.freeze; }
  /// Whether the settings mean this variable or slot.
  bool takes(std::string_view name) const;

  struct values {
    std::vector<named_tensor> tensors;  ///< Of variables and slots, with the shapes of the layouts.
    int64_t step = 0;                   ///< The state that the job begins at: the checkpoint's, where the settings take "global_step".
    std::string from;                   ///< The checkpoint or file.
  };
  /// Compares the settings, the layouts and the headers of the source, and reads no value. The errors of warm_start.hpp.
  expected<void> check(layouts groups) const;
  /// The values; `seed` draws those of new words.
  expected<values> read(layouts groups, uint64_t seed) const;

 private:
  struct expressions;
  struct taken;
  struct plan;
  expected<plan> make_plan(layouts groups) const;
  expected<void> find_tensors(plan& made) const;
  expected<void> check_expressions(const plan& made) const;
  void add_copies(plan& made, layouts groups) const;
  expected<void> find_words(plan& made) const;

  std::shared_ptr<file_system> files_;
  warm_start_settings settings_;
  std::unique_ptr<const expressions> expressions_;
  std::set<std::string, std::less<>> trainable_;
};

}  // namespace troupe
