// The books of a checkpoint: how the job stands, as the checkpoint says it. Plain data.
//
// Stored as properties, which are text. Verdicts, which are kept beside a checkpoint after its commit, take the place of what its own books say.
#pragma once

#include <troupe/checkpoint_id.hpp>

#include <map>

namespace troupe {

/// What is absent or empty is not said.
struct checkpoint_books {
  std::optional<int64_t> first_step = {};    ///< Where the first run of the job began.
  std::optional<bool> finished = {};         ///< Whether the job has ended here, at its goal or with its data.
  std::optional<double> rate_factor = {};    ///< What learning rates are multiplied by from this state on; absent: 1.
  std::string warm_start = {};               ///< Where the first values of the variables came from.

  struct best_checkpoint {
    checkpoint_id id;
    std::optional<double> value = {};        ///< Of the metric that chose it.
    bool in_use = false;                     ///< Whoever asks for the newest gets this one.
    bool operator==(const best_checkpoint&) const = default;
  };
  std::optional<best_checkpoint> best = {};  ///< The best so far.

  struct end_by_rule {
    std::string why;                         ///< "early: loss lower than 0.3: loss was 0.25 at step 10"
    std::string rule;                        ///< The rule as text.
    bool operator==(const end_by_rule&) const = default;
  };
  std::optional<end_by_rule> ended = {};     ///< A rule has ended the job here.

  struct departure {
    int64_t step = 0;                        ///< The first batch that the group made nothing of.
    std::string why;
    bool operator==(const departure&) const = default;
  };
  std::map<std::string, departure> left = {};  ///< The groups that have left the job, by name.

  bool operator==(const checkpoint_books&) const = default;
};

using checkpoint_properties = std::map<std::string, std::string>;

checkpoint_properties write_books(const checkpoint_books& books);
/// Other properties are passed over, and so is text that `write_books` does not write, but for the departure of a group: its step is the number at the
/// beginning, 0 where there is none.
checkpoint_books read_books(const checkpoint_properties& properties);

}  // namespace troupe
