// A position that is restored in other data than those with which it was saved: reading goes on, with a warning.
#include "input/streams/source_fingerprint.hpp"

#include "input/sources/idx_source.hpp"
#include "input/sources/tfrecord_source.hpp"
#include "reading.hpp"
#include "storage/files/memory_file_system.hpp"
#include "storage/records/record_file.hpp"
#include "tests/support/has.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace troupe {

using test::has;

namespace {

dataset with_ids(std::vector<int64_t> ids) {
  const auto count = std::ssize(ids);
  return *dataset::from_tensors(
      {{"id", tensor::of<int64_t>({count}, ids)}, {"same", tensor::zeros(dtype::float32, {count, 3})}});
}

/// Restores `saved` in `data`, which must succeed. Returns the warnings.
std::vector<std::string> warned(const dataset& data, const std::string& saved) {
  auto it = iterate(data);
  const auto restored = it->restore(saved);
  REQUIRE_MESSAGE(restored, (restored ? "" : to_text(restored.error())));
  CHECK(*it->save() != "");
  return it->warnings();
}

/// The position after one element is read.
std::string position_in(const dataset& data) {
  auto it = iterate(data);
  std::vector<std::vector<std::byte>> buffers;
  for (const auto& c : data.spec().features)
    buffers.emplace_back(static_cast<size_t>(it->batch_rows() * c.dims.elements() * size_of(c.type)));
  for (const auto& c : data.spec().labels)
    buffers.emplace_back(static_cast<size_t>(it->batch_rows() * c.dims.elements() * size_of(c.type)));
  std::vector<std::byte*> into;
  for (auto& b : buffers)
    into.push_back(b.data());
  REQUIRE(it->read(into, {}));
  return *it->save();
}

/// The position without fingerprints of the source, as earlier versions saved it.
std::string without_print(const std::string& saved) {
  std::string kept;
  for (size_t begin = 0; begin < saved.size();) {
    const size_t end = saved.find('\n', begin) + 1;
    if (const auto line = saved.substr(begin, end - begin); !line.starts_with("source "))
      kept += line;
    begin = end;
  }
  REQUIRE(kept.size() < saved.size());
  return kept;
}

void write_examples(const std::shared_ptr<file_system>& fs, const std::string& path, const std::vector<int64_t>& ids,
                    compression how) {
  auto file = create_record_file(fs, path, how);
  REQUIRE(file);
  for (const int64_t id : ids)
    REQUIRE((*file)->write(*encode_example({{{"id", std::vector<int64_t>{id}}}})));
  REQUIRE((*file)->close());
}

dataset record_data(const std::shared_ptr<file_system>& fs, const std::vector<std::string>& paths, compression how) {
  auto data = input::tfrecord_dataset(fs, paths, {.features = {{"id", dtype::int64, {}}}, .compression = how});
  REQUIRE_MESSAGE(data, (data ? "" : to_text(data.error())));
  return *data;
}

std::string idx(std::initializer_list<uint8_t> extents, const std::string& elements) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(extents.size())};
  for (const uint8_t e : extents)
    bytes += {'\0', '\0', '\0', static_cast<char>(e)};
  return bytes + elements;
}

}  // namespace

TEST_CASE(
    "a tensor of the same shape with another value is named by its component, and equal tensors give no warning") {
  const auto data = with_ids({1, 2, 3, 4});
  const auto saved = position_in(data);
  CHECK(warned(data, saved).empty());
  CHECK(warned(with_ids({1, 2, 3, 4}), saved).empty());
  const auto told = warned(with_ids({1, 2, 3, 5}), saved);
  REQUIRE(told.size() == 1);
  CHECK_MESSAGE(told[0].starts_with(
                    "'id' of tensors holds other data than when the position was saved (32 bytes with the checksum "),
                told[0]);
  CHECK(warned(with_ids({1, 2, 3, 5}), without_print(saved)).empty());
}

TEST_CASE(
    "stages, hosts and repetition do not hide that the data are others, and the next restore may find them the same") {
  const auto stages = [](const dataset& d) { return d.shuffle(3).batch(2).repeat(); };
  const auto saved = position_in(stages(with_ids({1, 2, 3, 4})));
  CHECK(warned(stages(with_ids({1, 2, 3, 5})), saved).size() == 1);
  auto it = iterate(stages(with_ids({1, 2, 3, 5})), {.host = 1, .hosts = 2});
  REQUIRE(it->restore(saved));
  CHECK(it->warnings().size() == 1);
  REQUIRE(it->restore(position_in(stages(with_ids({1, 2, 3, 5})))));
  CHECK(it->warnings().empty());
}

TEST_CASE("of IDX files with other pixels the file is named; copied, touched or compressed ones are the same") {
  std::string pattern = (std::filesystem::temp_directory_path() / "troupe-print-XXXXXX").string();
  REQUIRE(::mkdtemp(pattern.data()));
  const std::filesystem::path dir{pattern};
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream{dir / name, std::ios::binary} << bytes;
  };
  const idx_options paths{(dir / "images").string(), (dir / "labels").string()};
  write("images", idx({3, 1, 2}, "abcdef"));
  write("labels", idx({3}, "123"));
  const auto saved = position_in(open_idx(paths)->batch(2, false));
  CHECK_MESSAGE(names(error{.message = saved}, " images\n"), saved);
  std::filesystem::last_write_time(dir / "images",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours{1000});
  CHECK(warned(open_idx(paths)->batch(2, false), saved).empty());
  std::filesystem::create_directory(dir / "moved");
  std::filesystem::copy(dir / "images", dir / "moved" / "images");
  CHECK(warned(open_idx({(dir / "moved" / "images").string(), paths.labels})->batch(2, false), saved).empty());
  write("images", idx({3, 1, 2}, "abXdef"));
  const auto told = warned(open_idx(paths)->batch(2, false), saved);
  REQUIRE(told.size() == 1);
  CHECK_MESSAGE(told[0].starts_with(paths.images + " holds other data"), told[0]);
  CHECK(has(told[0], "now 6 bytes with the checksum"));
  CHECK(has(told[0], ", written "));
  std::filesystem::remove_all(dir);
}

TEST_CASE("of record files the one that differs is named, whether they are read in any order or streamed") {
  for (const auto how : {compression::none, compression::gzip}) {
    auto fs = memory_file_system();
    REQUIRE(fs->create_directories("/data"));
    const std::vector<std::string> paths{"/data/a", "/data/b"};
    write_examples(fs, "/data/a", {1, 2}, how);
    write_examples(fs, "/data/b", {3, 4}, how);
    const auto piped = [](const dataset& d) { return d.batch(1).repeat(2); };
    const auto saved = position_in(piped(record_data(fs, paths, how)));
    write_examples(fs, "/data/a", {1, 2}, how);  // The same bytes, written later.
    CHECK(warned(piped(record_data(fs, paths, how)), saved).empty());
    write_examples(fs, "/data/b", {3, 5}, how);
    const auto data = piped(record_data(fs, paths, how));
    const auto told = warned(data, saved);
    REQUIRE(told.size() == 1);
    CHECK_MESSAGE(told[0].starts_with("/data/b holds other data than when the position was saved"), told[0]);
    CHECK(warned(data, without_print(saved)).empty());
    auto it = iterate(data);
    REQUIRE(it->restore(saved));
    CHECK(next(*it) == std::vector<int64_t>{2});
  }
}

TEST_CASE("the print of many files is at most 8 lines, and still tells which few of them hold the one that differs") {
  auto fs = memory_file_system();
  std::vector<std::string> paths;
  for (int i = 0; i < 150; ++i) {
    paths.push_back("f" + std::to_string(i));
    write_examples(fs, paths.back(), {i}, compression::none);
  }
  const auto saved = position_in(record_data(fs, paths, compression::none));
  CHECK(std::count(saved.begin(), saved.end(), '\n') <= static_cast<std::ptrdiff_t>(input::lines_max) + 3);
  write_examples(fs, "f100", {7}, compression::none);
  const auto told = warned(record_data(fs, paths, compression::none), saved);
  REQUIRE(told.size() == 1);
  CHECK_MESSAGE(told[0].starts_with("f95 and the 18 after it holds other data"), told[0]);
}

TEST_CASE("a position whose print has another number of parts is restored, and both numbers are told") {
  const auto data = with_ids({1, 2});
  const auto told = warned(data, position_in(data) + "source 1 2 00000000 more\n");
  REQUIRE(told.size() == 1);
  CHECK_MESSAGE(
      told[0].starts_with("the position was saved with data in 3 parts, and here are 2, from 'id' of tensors on"),
      told[0]);
}

TEST_CASE("large data are sampled from the first byte to the last, and small data are read whole") {
  std::string bytes(1 << 20, 'x');
  const auto fingerprint = [&](int64_t budget) { return input::sample(std::as_bytes(std::span{bytes}), budget); };
  const auto all = fingerprint(1 << 20), some = fingerprint(1 << 16);
  CHECK(some != all);
  for (const size_t at : {size_t{0}, size_t{4095}, bytes.size() - 4096, bytes.size() - 1}) {
    bytes[at] = 'y';
    CHECK(fingerprint(1 << 16) != some);
    bytes[at] = 'x';
  }
  for (const size_t at : {size_t{5000}, size_t{123'456}}) {
    bytes[at] = 'y';
    CHECK(fingerprint(1 << 20) != all);
    bytes[at] = 'x';
  }
  // A change is always noticed if it is longer than the gaps between samples.
  std::fill_n(bytes.begin() + 300'000, 70'000, 'y');
  CHECK(fingerprint(1 << 16) != some);
}

TEST_CASE(
    "a print that is no print is refused as the rest of a state is, and data that cannot be read now are not judged") {
  const auto data = with_ids({1, 2});
  const auto saved = position_in(data);
  for (const char* line : {"source\n", "source 1\n", "source 1 2 zz name\n", "source 1 2 00000000", "more\n"})
    CHECK_MESSAGE(iterate(data)->restore(without_print(saved) + line).error().category == errc::invalid_argument, line);
  auto fs = memory_file_system();
  write_examples(fs, "f", {1, 2}, compression::gzip);
  const auto records = position_in(record_data(fs, {"f"}, compression::gzip));
  const auto again = record_data(fs, {"f"}, compression::gzip);
  REQUIRE(fs->remove("f"));
  auto it = iterate(again);
  REQUIRE(it->restore(records));
  CHECK(it->warnings().empty());
}

}  // namespace troupe
