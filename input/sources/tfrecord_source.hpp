// Datasets from record files. storage/records/record_file.hpp reads the records, storage/records/example_columns.hpp
// the examples in them.
#pragma once

#include "input/streams/refused.hpp"
#include "input/streams/source_fingerprint.hpp"
#include "storage/files/file_system.hpp"

#include <troupe/tfrecord.hpp>

namespace troupe::input {

/// Implements `open_tfrecord` on any file system.
expected<dataset> tfrecord_dataset(std::shared_ptr<file_system> files, std::vector<std::string> paths,
                                   tfrecord_options options);

/// What both kinds of node have. Components are sorted by name and checked.
struct tfrecord_parts {
  std::shared_ptr<file_system> files;
  std::vector<std::string> paths;
  tfrecord_options options;

  element_spec spec() const { return {options.features, options.labels}; }
  /// The features, then the labels.
  std::vector<component> columns() const;
  /// The source's name: "tfrecord(train-00.tfrecord and 2 more)".
  std::string name() const;
  /// The fingerprint of the files. Empty if a file cannot be read now: reading it later reports the error.
  source_fingerprint fingerprint() const {
    return fingerprint_of_files(*files, paths, file_fingerprint_budget).value_or(source_fingerprint{});
  }
};

expected<stage_ptr> indexed_tfrecord(tfrecord_parts parts);
expected<stage_ptr> streamed_tfrecord(tfrecord_parts parts);

/// The error for a record: `why`, preceded by the file and the record's number in it.
error at_record(const std::string& path, int64_t record, error why);

}  // namespace troupe::input
