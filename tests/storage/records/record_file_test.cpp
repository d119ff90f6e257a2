#include "storage/records/record_file.hpp"

#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

#include <zlib.h>

namespace troupe {

namespace {

constexpr compression all_compressions[] = {compression::none, compression::zlib, compression::gzip};

std::vector<std::string> some_records() {
  std::vector<std::string> records{"", "one", std::string(5, '\0')};
  for (int i = 0; i < 2000; ++i)
    records.push_back("record " + std::to_string(i * i) + std::string(static_cast<size_t>(i % 500), 'x'));
  records.emplace_back(2'000'000, 'y');  // Larger than any buffer.
  return records;
}

std::string file_of(const std::vector<std::string>& records, compression how) {
  auto fs = memory_file_system();
  auto writer = create_record_file(fs, "f", how);
  REQUIRE(writer);
  for (const auto& r : records)
    REQUIRE((*writer)->write(r));
  REQUIRE((*writer)->close());
  return *read_file(*fs, "f");
}

struct contents {
  std::vector<std::string> records;
  std::optional<error> failed;
};

contents read_all(std::string_view bytes, compression how) {
  auto fs = memory_file_system();
  REQUIRE(write_file_atomically(*fs, "", "f", bytes));
  auto reader = record_file_reader::open(*fs, "f", how);
  REQUIRE(reader);
  contents c;
  for (;;) {
    const auto record = (*reader)->next();
    if (!record)
      c.failed = record.error();
    if (!record || !*record)
      return c;
    c.records.emplace_back(**record);
  }
}

}  // namespace

TEST_CASE("records written with any compression are read back, in order, empty and large ones too") {
  const auto records = some_records();
  for (const auto how : all_compressions) {
    CAPTURE(to_string(how));
    const auto bytes = file_of(records, how);
    CHECK((how == compression::none) == (bytes.size() > 2'000'000));
    const auto read = read_all(bytes, how);
    CHECK_FALSE(read.failed);
    CHECK((read.records == records));
    CHECK(read_all(file_of({}, how), how).records.empty());
    CHECK_FALSE(read_all(file_of({}, how), how).failed);
  }
}

TEST_CASE("a file cut off anywhere gives its whole records, then data_loss with an offset") {
  const std::vector<std::string> records{"alpha", "beta", "gamma gamma gamma gamma"};
  for (const auto how : all_compressions) {
    const auto bytes = file_of(records, how);
    for (size_t length = 0; length < bytes.size(); ++length) {
      CAPTURE(to_string(how));
      CAPTURE(length);
      const auto read = read_all(std::string_view{bytes}.substr(0, length), how);
      CHECK(std::equal(read.records.begin(), read.records.end(), records.begin()));
      const bool between = how == compression::none && (length == 0 || length == 21 || length == 41);
      REQUIRE(read.failed.has_value() != between);
      if (read.failed) {
        CHECK(read.failed->category == errc::data_loss);
        CHECK(has(read.failed->message, "offset"));
        CHECK(read.failed->message.starts_with("f: "));
      }
    }
  }
}

TEST_CASE("a bit flipped anywhere never gives another record") {
  const std::vector<std::string> records{"alpha", "beta", "gamma gamma gamma gamma"};
  for (const auto how : all_compressions) {
    const auto bytes = file_of(records, how);
    for (size_t at = 0; at < bytes.size(); ++at)
      for (int bit = 0; bit < 8; ++bit) {
        auto damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
        const auto read = read_all(damaged, how);
        CAPTURE(at);
        REQUIRE(read.records.size() <= records.size());
        CHECK(std::equal(read.records.begin(), read.records.end(), records.begin()));
        CHECK((read.failed || read.records == records));  // The time stamp of gzip holds no data.
        if (how == compression::none)
          CHECK(read.failed);
      }
  }
}

TEST_CASE("a file read with another compression than it was written with is data_loss, whichever two they are") {
  for (const auto written : all_compressions)
    for (const auto read : all_compressions)
      if (written != read) {
        const auto c = read_all(file_of({"some", "records"}, written), read);
        CHECK(c.records.empty());
        REQUIRE(c.failed);
        CHECK(c.failed->category == errc::data_loss);
      }
}

TEST_CASE("bytes after a compressed stream are an error with their offset, and the records before them are read") {
  for (const auto how : {compression::zlib, compression::gzip}) {
    const auto bytes = file_of({"a", "b"}, how);
    const auto c = read_all(bytes + "more", how);
    CHECK(c.records == std::vector<std::string>{"a", "b"});
    REQUIRE(c.failed);
    CHECK(has(c.failed->message, "4 bytes follow the " + std::string{to_string(how)} + " stream, which ends at offset "
                                     + std::to_string(bytes.size())));
  }
}

TEST_CASE("a compressed file with an absurd length in it is refused without taking memory for it") {
  std::string record;
  append_record(record, "abc");
  for (const uint64_t length : {uint64_t{20'000}, uint64_t{1} << 60}) {
    std::memcpy(record.data(), &length, sizeof length);
    const uint32_t sum = masked_crc32c({record.data(), 8});
    std::memcpy(record.data() + 8, &sum, sizeof sum);
    auto fs = memory_file_system();
    std::string zlib_file(200, '\0');
    uLongf size = zlib_file.size();
    REQUIRE(compress(reinterpret_cast<Bytef*>(zlib_file.data()), &size, reinterpret_cast<const Bytef*>(record.data()),
                     record.size())
            == Z_OK);
    zlib_file.resize(size);
    const auto c = read_all(zlib_file, compression::zlib);
    REQUIRE(c.failed);
    CHECK(has(c.failed->message, "cut off: wanted " + std::to_string(length)));
  }
}

TEST_CASE("an error of every single call on the file system is returned when writing, and again by every later call") {
  const auto run = [](std::shared_ptr<file_system> fs, compression how) -> expected<void> {
    auto writer = create_record_file(std::move(fs), "d/f", how);
    if (!writer)
      return fail(writer.error());
    for (int i = 0; i < 40; ++i)
      if (auto ok = (*writer)->write(std::string(20'000, static_cast<char>('a' + i))); !ok) {
        CHECK((*writer)->write("x").error() == ok.error());
        CHECK((*writer)->close().error() == ok.error());
        return ok;
      }
    return (*writer)->close();
  };
  for (const auto how : all_compressions) {
    auto disk = memory_file_system();
    REQUIRE(disk->create_directories("d"));
    auto counting = faulty_file_system::around(disk);
    REQUIRE(run(counting, how));
    CHECK(counting->calls() >= 4);
    const int64_t calls = counting->calls();
    for (int64_t n = 0; n < calls; ++n) {
      auto fs = faulty_file_system::around(disk);
      fs->fail_after(n);
      const auto result = run(fs, how);
      REQUIRE_FALSE(result);
      CHECK(result.error().category == errc::unavailable);
    }
  }
}

TEST_CASE("a closed file survives a loss of power, and its writer says that it is closed") {
  auto disk = memory_disk::make();
  REQUIRE(disk->create_directories("/d"));
  REQUIRE(disk->sync_directory("/"));
  auto writer = std::move(*create_record_file(disk, "/d/f", compression::gzip));
  REQUIRE(writer->write("kept"));
  REQUIRE(writer->close());
  CHECK(writer->write("late").error().category == errc::state);
  CHECK(writer->close().error().category == errc::state);
  disk->crash();
  auto reader = record_file_reader::open(*disk, "/d/f", compression::gzip);
  REQUIRE(reader);
  CHECK(**(*reader)->next() == "kept");
}

TEST_CASE("the public writer and reader work on the disk, and a file that is not there is not_found") {
  const temporary_directory dir;
  const std::string path = dir.path + "/a.tfrecord.gz";
  auto writer = record_writer::create(path, compression::gzip);
  REQUIRE(writer);
  REQUIRE(writer->write("first"));
  REQUIRE(writer->write("second"));
  REQUIRE(writer->close());
  auto reader = record_reader::open(path, compression::gzip);
  REQUIRE(reader);
  CHECK(**reader->next() == "first");
  CHECK(reader->offset() == 21);
  CHECK(**reader->next() == "second");
  CHECK_FALSE(*reader->next());
  CHECK(record_reader::open(dir.path + "/none").error().category == errc::not_found);
  CHECK(record_writer::create(dir.path + "/none/f").error().category == errc::not_found);
}

TEST_CASE("a record file that another program removed while it was written is an error when it is closed") {
  const auto disk = memory_disk::make();
  REQUIRE(disk->create_directories("/d"));
  for (const auto how : {compression::none, compression::gzip}) {
    auto file = create_record_file(disk, "/d/train", how);
    REQUIRE(file);
    REQUIRE((*file)->write("a record"));
    REQUIRE(disk->remove("/d/train"));
    const auto closed = (*file)->close();
    REQUIRE_FALSE(closed);
    CHECK(closed.error()
          == error{errc::failed_precondition,
                   "/d/train was removed, replaced or truncated by another program while it was written"});
  }
}

TEST_CASE("a writer and a reader of records that were moved from say so") {
  const temporary_directory dir;
  const error wanted{errc::state, "the handle holds no file: it was moved from"};
  auto writer = record_writer::create(dir.path + "/f");
  REQUIRE(writer);
  auto other = std::move(*writer);
  CHECK(writer->write("first").error() == wanted);
  CHECK(writer->close().error() == wanted);
  REQUIRE(other.write("second"));
  REQUIRE(other.close());
  auto reader = record_reader::open(dir.path + "/f");
  REQUIRE(reader);
  auto rest = std::move(*reader);
  CHECK(reader->next().error() == wanted);
  CHECK(reader->offset() == 0);
  CHECK(**rest.next() == "second");
}

}  // namespace troupe
