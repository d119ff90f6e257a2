#include "storage/predictions/prediction_file.hpp"

#include "storage/encodings/npy.hpp"
#include "storage/files/output_file.hpp"

#include <algorithm>

namespace troupe {

namespace {

struct npy_column {
  dtype type;
  shape row;
  std::string name;  ///< "<directory>/<key>.npy".
  output_file rows;  ///< Only the elements. The header needs the number of rows, which is known at the end.
};

}  // namespace

struct prediction_file::impl {
  std::shared_ptr<file_system> files;
  std::string path;
  prediction_format format;
  std::optional<output_file> text;
  std::map<std::string, npy_column> columns;
  int64_t results = 0;

  expected<void> open();
  expected<void> write_row(const std::string& key, const tensor& value);
  expected<output_file> complete(npy_column& c);
  expected<void> keep_columns();
};

expected<void> prediction_file::impl::open() {
  if (format == prediction_format::npy)
    return files->create_directories(path);
  auto made = output_file::create(files, path);
  if (!made)
    return fail(made.error());
  text.emplace(std::move(*made));
  return {};
}

expected<void> prediction_file::impl::write_row(const std::string& key, const tensor& value) {
  auto found = columns.find(key);
  if (found == columns.end() && results == 0) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '/', '_');
    name = join_path(path, name + ".npy");
    if (const auto kept_as = files->replaceable(name); !kept_as || !*kept_as)
      return kept_as ? fail(errc::failed_precondition,
                            "cannot write to " + name + ": it is a device or a pipe, and an array is a file")
                     : fail(kept_as.error());
    auto rows = output_file::create(files, name + ".rows");
    if (!rows)
      return fail(rows.error());
    found = columns.emplace(key, npy_column{value.type(), value.dims(), name, std::move(*rows)}).first;
  }
  if (found == columns.end() || found->second.type != value.type() || found->second.row != value.dims())
    return fail(errc::invalid_argument, "'" + key + "' of result " + std::to_string(results) + " is "
                                            + std::string{to_string(value.type())} + " " + to_text(value.dims())
                                            + ", and was not in the first result");
  return found->second.rows.append(
      {reinterpret_cast<const char*>(value.data()), static_cast<size_t>(value.byte_size())});
}

expected<output_file> prediction_file::impl::complete(npy_column& c) {
  auto whole = output_file::create(files, c.name);
  if (!whole)
    return whole;
  auto written = whole->append(npy_header(c.type, c.row.prepend(results))).and_then([&] { return c.rows.flush(); });
  if (!written)
    return fail(written.error());
  const auto rows = files->open(c.rows.path());
  if (!rows)
    return fail(rows.error());
  std::string piece;
  for (int64_t at = 0; at < (*rows)->size(); at += static_cast<int64_t>(piece.size())) {
    piece.resize(static_cast<size_t>(std::min(output_file::buffer_bytes, (*rows)->size() - at)));
    auto copied = (*rows)->read(at, std::as_writable_bytes(std::span{piece})).and_then([&] {
      return whole->append(piece);
    });
    if (!copied)
      return fail(copied.error());
  }
  if (auto completed = whole->complete(); !completed)
    return fail(completed.error());
  return whole;
}

/// Completes all files before it renames any, so that afterwards only a rename can fail.
expected<void> prediction_file::impl::keep_columns() {
  std::vector<std::pair<const npy_column*, output_file>> whole;
  for (auto& [key, column] : columns) {
    auto one = complete(column);
    if (!one)
      return fail(one.error());
    whole.emplace_back(&column, std::move(*one));
  }
  std::vector<std::string> added;
  for (auto& [column, file] : whole) {
    const bool is_new = !files->info(column->name).has_value();
    if (auto kept = file.keep(); !kept) {
      for (const auto& name : added)
        static_cast<void>(files->remove(name));
      return kept;
    }
    if (is_new)
      added.push_back(column->name);
  }
  for (auto& [column, file] : whole)
    if (auto settled = file.settle(); !settled)
      return settled;
  return {};
}

prediction_file::prediction_file(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
prediction_file::prediction_file(prediction_file&&) noexcept = default;
prediction_file& prediction_file::operator=(prediction_file&&) noexcept = default;
prediction_file::~prediction_file() = default;

expected<prediction_file> prediction_file::create(const std::string& path, prediction_format format) {
  return create_prediction_file(posix_file_system(), path, format);
}

bool prediction_file::is_stream(const std::string& path) {
  const auto kept_as = posix_file_system()->replaceable(path);
  return kept_as && !*kept_as;
}

expected<void> prediction_file::write(const prediction& one) {
  auto& i = *impl_;
  expected<void> written;
  if (i.format == prediction_format::npy) {
    for (const auto& [key, value] : one.values)
      if (written = i.write_row(key, value); !written)
        return written;
  } else {
    const bool names = i.format == prediction_format::csv && i.results == 0;
    written = i.text->append((names ? csv_header(one) : "")
                             + (i.format == prediction_format::csv ? csv_line(one) : json_line(one)));
  }
  if (written)
    ++i.results;
  return written;
}

expected<void> prediction_file::finish() {
  auto& i = *impl_;
  if (!i.text)
    return i.keep_columns();
  return i.text->finish();
}

expected<prediction_file> create_prediction_file(std::shared_ptr<file_system> files, const std::string& path,
                                                 prediction_format format) {
  auto made = std::make_unique<prediction_file::impl>(prediction_file::impl{std::move(files), path, format, {}, {}});
  if (auto opened = made->open(); !opened)
    return fail(opened.error());
  return prediction_file{std::move(made)};
}

}  // namespace troupe
