// The books of a checkpoint: the chief's records of the job, as stored with the checkpoint. Plain data.
//
// Stored as properties, which are text. A verdict, which is stored beside a checkpoint after its commit, overrides the
// books in it.
#pragma once

#include "words/loop_spans.hpp"

#include <troupe/checkpoint_id.hpp>

#include <map>

namespace troupe {

/// A field that is absent or empty is not stored.
struct checkpoint_books {
  std::optional<int64_t> first_step = {};  ///< The state at which the job first started.
  std::optional<bool> finished = {};       ///< Whether the job has ended here, at its goal or with its data.
  std::optional<double> rate_factor = {};  ///< Factor of the learning rates from this state on; absent: 1.
  std::optional<loop_span> loop = {};      ///< The loops of this state.
  std::string warm_start = {};             ///< Where the initial values of the variables came from.

  struct best_checkpoint {
    checkpoint_id id;
    std::optional<double> value = {};  ///< Of the metric that chose the checkpoint.
    bool in_use = false;               ///< Readers that want the newest checkpoint get this one.
    bool operator==(const best_checkpoint&) const = default;
  };
  std::optional<best_checkpoint> best = {};  ///< The best checkpoint so far.

  struct end_by_rule {
    std::string why;   ///< "early: loss lower than 0.3: loss was 0.25 at step 10"
    std::string rule;  ///< The rule as text.
    bool operator==(const end_by_rule&) const = default;
  };
  std::optional<end_by_rule> ended = {};  ///< Present if a rule has ended the job here.

  struct departure {
    int64_t step = 0;  ///< The first step that the group did not make.
    std::string why;
    bool operator==(const departure&) const = default;
  };
  std::map<std::string, departure> left = {};  ///< The groups that have left the job, by name.

  bool operator==(const checkpoint_books&) const = default;
};

using checkpoint_properties = std::map<std::string, std::string>;

checkpoint_properties write_books(const checkpoint_books& books);
/// Ignores other properties, and any text that `write_books` does not write. The exception is the departure of a group:
/// its step is the number at the beginning of the text, or 0 if there is none.
checkpoint_books read_books(const checkpoint_properties& properties);

}  // namespace troupe
