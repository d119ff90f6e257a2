// run.json: the configuration of the last job in a model directory. Byte layout: docs/run_record.md.
#pragma once

#include "storage/files/file_system.hpp"

#include <troupe/run_record.hpp>

namespace troupe {

/// The bytes of run.json for `record`. Invalid UTF-8 is replaced by U+FFFD.
std::string run_record_text(const run_record& record);
/// Errors: data_loss, unimplemented; both name `path`.
expected<run_record> parse_run_record(std::string text, const std::string& path);

/// Replaces the file atomically.
expected<void> write_run_record(file_system& fs, const std::string& model_dir, const run_record& record);
/// Implements `read_run_record`. Error: not_found also for a directory that does not exist.
expected<run_record> load_run_record(file_system& fs, const std::string& model_dir);

}  // namespace troupe
