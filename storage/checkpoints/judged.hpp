// judged.json: what an evaluator in a process of its own has judged, for the chief. Byte layout: docs/run_record.md.
#pragma once

#include "storage/files/file_system.hpp"

#include <troupe/checkpoint_id.hpp>

namespace troupe {

inline constexpr std::string_view judged_file = "judged.json";

/// A checkpoint, and the CRC-32C of its manifest's bytes: another checkpoint of the same step is not meant.
struct judged_checkpoint {
  checkpoint_id id;
  uint32_t manifest_crc32c = 0;
  bool operator==(const judged_checkpoint&) const = default;
};

struct judged {
  struct best_so_far {
    judged_checkpoint at;
    double value = 0;  ///< Of the metric that chose it. Never NaN.
    bool operator==(const best_so_far&) const = default;
  };
  struct end_by_rule {
    judged_checkpoint at;  ///< The checkpoint whose evaluation made the rule apply.
    std::string rule;      ///< The rule as text.
    std::string why;       ///< "loss lower than 0.3: loss was 0.25 at step 10"
    bool operator==(const end_by_rule&) const = default;
  };
  std::optional<best_so_far> best = {};
  std::optional<end_by_rule> ends = {};
  bool operator==(const judged&) const = default;
};

std::string judged_text(const judged& j);
/// Errors, all of which name `path`: data_loss for a text that is torn, changed or of another format; unimplemented for
/// a later version.
expected<judged> parse_judged(std::string text, const std::string& path);

/// Replaces the file atomically.
expected<void> write_judged(file_system& fs, const std::string& model_dir, const judged& j);
/// not_found: there is no such file; errors of `parse_judged`.
expected<judged> load_judged(file_system& fs, const std::string& model_dir);

/// Names a checkpoint of the directory by its manifest. Error: not_found.
expected<judged_checkpoint> judged_checkpoint_of(file_system& fs, const std::string& model_dir, checkpoint_id id);
/// Whether the directory has exactly that checkpoint. Errors other than not_found are the disk's.
expected<bool> has_checkpoint(file_system& fs, const std::string& model_dir, const judged_checkpoint& meant);

}  // namespace troupe
