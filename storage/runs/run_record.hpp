// run.json: what the last job in a model directory was configured with. Byte layout: docs/run_record.md.
#pragma once

#include "storage/files/file_system.hpp"

#include <troupe/run_record.hpp>

namespace troupe {

/// `record` as the bytes of run.json. Bytes that are no UTF-8 become U+FFFD.
std::string run_record_text(const run_record& record);
/// data_loss, unimplemented; each names `path`.
expected<run_record> parse_run_record(std::string text, const std::string& path);

/// Replaces the file as a whole, or leaves it as it was.
expected<void> write_run_record(file_system& fs, const std::string& model_dir, const run_record& record);
/// `read_run_record`. not_found also for a directory that does not exist.
expected<run_record> load_run_record(file_system& fs, const std::string& model_dir);

}  // namespace troupe
