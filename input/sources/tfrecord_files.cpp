#include "input/sources/tfrecord_source.hpp"
#include "input/streams/example_rows.hpp"
#include "storage/records/example_columns.hpp"
#include "words/text.hpp"

namespace troupe {

namespace input {

std::vector<component> tfrecord_parts::columns() const { return spec().components(); }

std::string tfrecord_parts::name() const {
  return "tfrecord(" + file_name_of(paths.front())
         + (paths.size() > 1 ? " and " + std::to_string(paths.size() - 1) + " more" : "") + ")";
}

error at_record(const std::string& path, int64_t record, error why) {
  why.message = path + ": record " + std::to_string(record) + ": " + why.message;
  return why;
}

expected<dataset> tfrecord_dataset(std::shared_ptr<file_system> files, std::vector<std::string> paths,
                                   tfrecord_options options) {
  if (paths.empty())
    return fail(errc::invalid_argument, "a dataset of record files needs at least one path");
  auto spec = checked_spec({std::move(options.features), std::move(options.labels)}, "a dataset of record files");
  if (!spec)
    return fail(std::move(spec.error()));
  options.features = std::move(spec->features);
  options.labels = std::move(spec->labels);
  tfrecord_parts parts{std::move(files), std::move(paths), std::move(options)};
  if (auto fits = example_columns::of(parts.columns()); !fits)
    return fail(std::move(fits.error()));
  const bool plain = parts.options.compression == compression::none;
  auto node = plain ? indexed_tfrecord(std::move(parts)) : streamed_tfrecord(std::move(parts));
  if (!node)
    return fail(std::move(node.error()));
  return dataset{std::move(*node)};
}

}  // namespace input

expected<dataset> open_tfrecord(const std::vector<std::string>& paths, tfrecord_options options) {
  return input::tfrecord_dataset(posix_file_system(), paths, std::move(options));
}

}  // namespace troupe
