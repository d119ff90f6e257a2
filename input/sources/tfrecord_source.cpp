#include "input/sources/tfrecord_source.hpp"

#include "input/streams/example_rows.hpp"
#include "input/streams/row_stage.hpp"
#include "storage/records/example_columns.hpp"
#include "storage/records/record_index.hpp"

#include <algorithm>
#include <mutex>

namespace troupe::input {

namespace {

/// Limit on the record places that are kept for all files together: 8 MiB.
constexpr int64_t places_max = int64_t{1} << 20;

/// Uncompressed files. Any record can be read by its number.
class tfrecord_rows final : public row_source {
 public:
  struct shard {
    int64_t first = 0;  ///< The number of the file's first record, counted over all files.
    record_index index;
  };

  tfrecord_rows(tfrecord_parts parts, std::vector<shard> shards, example_columns columns)
    : parts_(std::move(parts)), shards_(std::move(shards)), columns_(std::move(columns)), open_(shards_.size()) {
    for (const auto& c : parts_.spec().components())
      row_bytes_.push_back(static_cast<size_t>(c.row_bytes()));
  }

  element_spec spec() const override { return parts_.spec(); }
  int64_t rows() const noexcept override { return shards_.back().first + shards_.back().index.records(); }

  expected<void> read_rows(std::span<const row_range> ranges, std::span<std::byte* const> into,
                           const std::stop_token& stop) const override {
    const std::scoped_lock lock{mutex_};
    at_.assign(into.begin(), into.end());
    for (const row_range& r : ranges)
      for (int64_t row = r.first; row < r.first + r.count; ++row) {
        if (stop.stop_requested())
          return fail(errc::cancelled, parts_.name() + " was stopped before example " + std::to_string(row));
        if (auto ok = read_row(row); !ok)
          return ok;
        for (size_t i = 0; i < at_.size(); ++i)
          at_[i] += row_bytes_[i];
      }
    return {};
  }

  void describe(std::vector<std::string>& stages, const reading* r) const override {
    stages.push_back(parts_.name()
                     + (r ? " of " + std::to_string(rows()) + " examples:" + input::to_text(parts_.spec()) : ""));
  }

 protected:
  source_fingerprint take_fingerprint() const override { return parts_.fingerprint(); }

 private:
  expected<void> read_row(int64_t row) const {
    const auto after = std::upper_bound(shards_.begin(), shards_.end(), row,
                                        [](int64_t n, const shard& s) { return n < s.first; });
    const auto i = static_cast<size_t>(after - shards_.begin() - 1);
    const int64_t record = row - shards_[i].first;
    auto done = open(i).and_then([&] { return shards_[i].index.read(*open_[i], record, payload_); });
    if (!done)
      return done;
    done = columns_.read(payload_, at_);
    if (!done)
      return fail(at_record(parts_.paths[i], record, std::move(done.error())));
    return {};
  }

  /// Opens files only when needed: thousands of files must not take thousands of descriptors.
  expected<void> open(size_t i) const {
    constexpr size_t open_max = 64;
    if (open_[i])
      return {};
    if (open_count_ == open_max) {
      for (auto& file : open_)
        file.reset();
      open_count_ = 0;
    }
    auto file = parts_.files->open(parts_.paths[i]);
    if (!file)
      return fail(std::move(file.error()));
    open_[i] = std::move(*file);
    ++open_count_;
    return {};
  }

  tfrecord_parts parts_;
  std::vector<size_t> row_bytes_;

  // Iterators on several threads share the node. The lock protects the members below: buffers that are kept to save
  // memory, and what an index remembers.
  mutable std::mutex mutex_;
  mutable std::vector<shard> shards_;
  mutable example_columns columns_;
  mutable std::vector<std::unique_ptr<readable_file>> open_;
  mutable size_t open_count_ = 0;
  mutable std::string payload_;
  mutable std::vector<std::byte*> at_;
};

}  // namespace

expected<stage_ptr> indexed_tfrecord(tfrecord_parts parts) {
  auto columns = example_columns::of(parts.columns());
  if (!columns)
    return fail(std::move(columns.error()));
  std::vector<tfrecord_rows::shard> shards;
  int64_t first = 0;
  for (const auto& path : parts.paths) {
    const auto file = parts.files->open(path);
    if (!file)
      return fail(file.error());
    auto index = record_index::of(**file, path, std::max<int64_t>(places_max / std::ssize(parts.paths), 16));
    if (!index)
      return fail(std::move(index.error()));
    shards.push_back({first, std::move(*index)});
    first += shards.back().index.records();
  }
  return std::make_shared<tfrecord_rows>(std::move(parts), std::move(shards), std::move(*columns));
}

}  // namespace troupe::input
