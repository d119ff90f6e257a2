// The values with which a new job begins in place of initial ones: a warm start by the user's settings.
//
// The settings and the names alone determine which variables are taken, so a resumed job freezes the same variables
// without reading the source. The source is read only if there is no checkpoint; values are not kept. Used by one
// thread at a time.
#pragma once

#include "actors/writers/checkpoint_loading.hpp"

#include <troupe/warm_start.hpp>

#include <set>

namespace troupe {

class start_values {
 public:
  /// Requires valid settings.
  start_values(std::shared_ptr<file_system> files, warm_start_settings settings);
  ~start_values();

  /// Adds the name of a variable that the model would train if it were not frozen.
  void add_trainable(std::string name) { trainable_.insert(std::move(name)); }
  bool freezes() const noexcept { return settings_.freeze; }
  /// Whether this variable or slot takes a value by the settings.
  bool takes(std::string_view name) const;

  struct values {
    std::vector<named_tensor> tensors;  ///< Of variables and slots, with the shapes of the layouts.
    /// The state at which the job begins: the checkpoint's, if the settings take "global_step".
    int64_t step = 0;
    std::string from;  ///< The path of the source.
  };
  /// Compares the settings, the layouts and the headers of the source, but reads no value. Returns the errors of
  /// warm_start.hpp.
  expected<void> check(layouts groups) const;
  /// Reads the values; `seed` determines the initial values of new words.
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
