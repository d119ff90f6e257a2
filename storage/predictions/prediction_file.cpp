#include "storage/predictions/prediction_file.hpp"

#include "storage/encodings/npy.hpp"
#include "storage/files/output_file.hpp"
#include "words/moved_from.hpp"

#include <algorithm>

namespace troupe {

namespace {

struct npy_column {
  dtype type;
  shape row;
  std::string name;  ///< "<directory>/<key>.npy".
  output_file rows;  ///< Only the elements. The header needs the number of rows, which is known at the end.
};

/// What all results have in common: the dtype and shape of each value as text, "float32 [3]", and the number of words
/// of each text, "2 words".
using result_form = std::map<std::string, std::string>;

result_form form_of(const prediction& one) {
  result_form form;
  for (const auto& [key, value] : one.values)
    form[key] = std::string{to_string(value.type())} + " " + to_text(value.dims());
  for (const auto& [key, words] : one.texts) {
    auto& what = form[key];  // A value and a text may have one name.
    what += (what.empty() ? "" : " and ") + std::to_string(words.size()) + (words.size() == 1 ? " word" : " words");
  }
  return form;
}

}  // namespace

struct prediction_file::impl {
  std::shared_ptr<file_system> files;
  std::string path;
  prediction_format format;
  std::optional<output_file> text;
  std::map<std::string, npy_column> columns;
  result_form first;  ///< That of the first result.
  int64_t results = 0;
  /// Why a result was written in part, or not at all: what is in the files can no longer become complete.
  std::optional<error> broken;

  expected<void> open();
  expected<void> check(const result_form& form) const;
  expected<void> open_columns(const prediction& one);
  expected<void> append(const prediction& one);
  expected<void> no_others(const std::vector<std::string>& names) const;
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

/// Refuses a result that is not like the first.
expected<void> prediction_file::impl::check(const result_form& form) const {
  const std::string result = "result " + std::to_string(results);
  for (const auto& [key, what] : form) {
    const auto there = first.find(key);
    if (there == first.end() || there->second != what)
      return fail(errc::invalid_argument,
                  "'" + key + "' of " + result + " is " + what + ", and "
                      + (there == first.end() ? "is not in the first result" : there->second + " in the first result"));
  }
  for (const auto& [key, what] : first)
    if (!form.contains(key))
      return fail(errc::invalid_argument, result + " has no '" + key + "', which is " + what + " in the first result");
  return {};
}

/// Creates the columns of the first result, all or none.
expected<void> prediction_file::impl::open_columns(const prediction& one) {
  std::vector<std::string> names;
  for (const auto& [key, value] : one.values) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '/', '_');
    name = join_path(path, name + ".npy");
    if (const auto other = std::find(names.begin(), names.end(), name); other != names.end())
      return fail(errc::invalid_argument, "'" + std::next(one.values.begin(), other - names.begin())->first + "' and '"
                                              + key + "' would both be written to " + name);
    if (const auto kept_as = files->replaceable(name); !kept_as || !*kept_as)
      return kept_as ? fail(errc::failed_precondition,
                            "cannot write to " + name + ": it is a device or a pipe, and an array is a file")
                     : fail(kept_as.error());
    names.push_back(std::move(name));
  }
  if (auto alone = no_others(names); !alone)
    return alone;
  std::map<std::string, npy_column> made;
  for (const auto& [key, value] : one.values) {
    const auto& name = names[made.size()];
    auto rows = output_file::create(files, name + ".rows");
    if (!rows)
      return fail(rows.error());
    made.emplace(key, npy_column{value.type(), value.dims(), name, std::move(*rows)});
  }
  columns = std::move(made);
  return {};
}

/// Arrays of other keys have rows of other results: whoever reads the directory would take them for one run.
expected<void> prediction_file::impl::no_others(const std::vector<std::string>& names) const {
  const auto there = files->list(path);
  if (!there)
    return fail(there.error());
  for (const auto& file : *there)
    if (file.name.ends_with(".npy") && std::find(names.begin(), names.end(), join_path(path, file.name)) == names.end())
      return fail(errc::failed_precondition,
                  join_path(path, file.name) + " is not of these results: remove it, or name another directory");
  return {};
}

expected<void> prediction_file::impl::append(const prediction& one) {
  if (format == prediction_format::csv)
    return text->append((results == 0 ? csv_header(one) : "") + csv_line(one));
  if (format == prediction_format::jsonl)
    return text->append(json_line(one));
  for (const auto& [key, value] : one.values) {
    auto appended = columns.at(key).rows.append(
        {reinterpret_cast<const char*>(value.data()), static_cast<size_t>(value.byte_size())});
    if (!appended)
      return appended;
  }
  return {};
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
  if (!impl_)
    return fail(moved_from("file"));
  auto& i = *impl_;
  if (i.broken)
    return fail(*i.broken);
  auto form = form_of(one);
  expected<void> right;
  if (i.results > 0)
    right = i.check(form);
  else if (i.format == prediction_format::npy)
    right = i.open_columns(one);
  if (!right)
    return right;
  if (auto appended = i.append(one); !appended) {
    i.broken = appended.error();
    return appended;
  }
  if (i.results++ == 0)
    i.first = std::move(form);
  return {};
}

expected<void> prediction_file::finish() {
  if (!impl_)
    return fail(moved_from("file"));
  auto& i = *impl_;
  if (i.broken)
    return fail(*i.broken);
  return i.text ? i.text->finish() : i.keep_columns();
}

expected<prediction_file> create_prediction_file(std::shared_ptr<file_system> files, const std::string& path,
                                                 prediction_format format) {
  auto made = std::make_unique<prediction_file::impl>(
      prediction_file::impl{std::move(files), path, format, {}, {}, {}});
  if (auto opened = made->open(); !opened)
    return fail(opened.error());
  return prediction_file{std::move(made)};
}

}  // namespace troupe
