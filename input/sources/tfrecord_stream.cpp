#include "input/sources/tfrecord_source.hpp"
#include "input/streams/example_rows.hpp"
#include "input/streams/position_iterator.hpp"
#include "input/streams/streamed.hpp"
#include "storage/records/example_columns.hpp"
#include "storage/records/record_file.hpp"

#include <charconv>

namespace troupe::input {

namespace {

/// Reads compressed files one after the other. The position is the number of a file and the number of records read from
/// it.
class tfrecord_iterator final : public dataset_iterator {
 public:
  tfrecord_iterator(const tfrecord_parts& parts, example_columns columns,
                    std::shared_ptr<const lazy_fingerprint> fingerprint)
    : parts_(parts), spec_(parts_.spec()), columns_(std::move(columns)), fingerprint_(std::move(fingerprint)) {}

  const element_spec& spec() const noexcept override { return spec_; }
  int64_t batch_rows() const noexcept override { return 1; }

  expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
    for (; file_ < parts_.paths.size(); ++file_, record_ = 0, reader_.reset()) {
      if (auto ok = catch_up(stop); !ok)
        return fail(std::move(ok.error()));
      if (stop.stop_requested())
        return fail(errc::cancelled, parts_.name() + " was stopped before record " + std::to_string(record_) + " of "
                                         + parts_.paths[file_]);
      const auto payload = reader_->next();
      if (!payload)
        return fail(payload.error());
      if (!*payload)
        continue;
      if (auto ok = columns_.read(**payload, into); !ok) {
        reader_.reset();  // The position does not move past this record.
        return fail(at_record(parts_.paths[file_], record_, std::move(ok.error())));
      }
      ++record_;
      return 1;
    }
    return fail(errc::out_of_range, parts_.name() + " is at its end");
  }

  expected<std::string> save() const override {
    return stage() + "\nfile " + std::to_string(file_) + " record " + std::to_string(record_) + "\n"
           + fingerprint_->text();
  }

  expected<void> restore(std::string_view state) override {
    const auto refuse = [this](const std::string& why) {
      return fail(errc::invalid_argument, "cannot resume " + parts_.name() + ": " + why);
    };
    const auto line = state.substr(0, state.find('\n'));
    if (line != stage())
      return refuse("the state was saved by '" + std::string{line} + "', here is '" + stage() + "'");
    auto position = state.substr(std::min(line.size() + 1, state.size()));
    size_t file = 0;
    int64_t record = 0;
    constexpr auto no_position = "the state's position is not a file and a record";
    if (!take(position, "file ", file) || !take(position, " record ", record) || !position.starts_with('\n')
        || file > parts_.paths.size() || record < 0)
      return refuse(no_position);
    position.remove_prefix(1);
    auto differences = take_differences(position, fingerprint_->get());
    if (!position.empty())
      return refuse(no_position);
    warnings_ = std::move(differences);
    file_ = file;
    record_ = record;
    reader_.reset();
    return {};
  }
  std::vector<std::string> warnings() const override { return warnings_; }

 private:
  std::string stage() const {
    return parts_.name() + " of " + std::string{to_string(parts_.options.compression)} + ":"
           + input::to_text(parts_.spec());
  }

  template <class T>
  static bool take(std::string_view& text, std::string_view before, T& number) {
    if (!text.starts_with(before))
      return false;
    text.remove_prefix(before.size());
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return failed == std::errc{};
  }

  /// Moves the reader to the record at the position.
  expected<void> catch_up(const std::stop_token& stop) {
    if (reader_)
      return {};
    const auto& path = parts_.paths[file_];
    auto reader = record_file_reader::open(*parts_.files, path, parts_.options.compression);
    if (!reader)
      return fail(std::move(reader.error()));
    for (int64_t passed = 0; passed < record_; ++passed) {
      if (stop.stop_requested())
        return fail(errc::cancelled, "stopped while looking for record " + std::to_string(record_) + " of " + path);
      const auto payload = (*reader)->next();
      if (!payload)
        return fail(payload.error());
      if (!*payload)
        return fail(errc::invalid_argument, "cannot resume " + parts_.name() + ": " + path + " has "
                                                + std::to_string(passed) + " records, and the position is record "
                                                + std::to_string(record_));
    }
    reader_ = std::move(*reader);
    return {};
  }

  tfrecord_parts parts_;
  element_spec spec_;
  example_columns columns_;
  std::shared_ptr<const lazy_fingerprint> fingerprint_;
  std::vector<std::string> warnings_;
  std::unique_ptr<record_file_reader> reader_;
  size_t file_ = 0;
  int64_t record_ = 0;  ///< The number of the next record in `file_`.
};

class tfrecord_stream final : public dataset_stage {
 public:
  explicit tfrecord_stream(tfrecord_parts parts) : parts_(std::move(parts)) {}

  element_spec spec() const override { return parts_.spec(); }
  std::string to_text() const override { return parts_.name(); }
  std::optional<int64_t> source_size() const override { return {}; }
  std::optional<int64_t> elements(bool) const override { return {}; }

  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const override {
    if (auto ok = check_hosts(options); !ok)
      return fail(ok.error());
    auto columns = example_columns::of(parts_.columns());
    if (!columns)
      return fail(std::move(columns.error()));
    return shared(std::make_unique<tfrecord_iterator>(parts_, std::move(*columns), fingerprint_), options);
  }

 private:
  tfrecord_parts parts_;
  /// The fingerprint; all iterators of this node share it.
  std::shared_ptr<const lazy_fingerprint> fingerprint_ = std::make_shared<lazy_fingerprint>(
      [parts = parts_] { return parts.fingerprint(); });
};

}  // namespace

expected<stage_ptr> streamed_tfrecord(tfrecord_parts parts) {
  for (const auto& path : parts.paths)
    if (auto there = parts.files->info(path); !there)
      return fail(std::move(there.error()));
  return std::make_shared<tfrecord_stream>(std::move(parts));
}

}  // namespace troupe::input
