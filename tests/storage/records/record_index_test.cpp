#include "storage/records/record_index.hpp"

#include "storage/records/record_framing.hpp"
#include "tests/support/has.hpp"
#include "tests/support/repeated_file.hpp"

#include <doctest/doctest.h>

namespace troupe {

using test::has;

namespace {

std::string records_of(const std::vector<std::string>& payloads) {
  std::string bytes;
  for (const auto& payload : payloads)
    append_record(bytes, payload);
  return bytes;
}

std::unique_ptr<readable_file> file_with(std::string_view bytes) {
  const auto fs = memory_file_system();
  REQUIRE(write_file_atomically(*fs, "", "f", bytes));
  return std::move(*fs->open("f"));
}

constexpr int64_t any_number = 1 << 20;

}  // namespace

TEST_CASE("an index finds each record of an uncompressed file, and a damaged payload when it is read") {
  auto bytes = records_of({"alpha", "", "gamma"});
  bytes[21 + 16 + 12] = 'G';
  const auto file = file_with(bytes);
  auto index = record_index::of(*file, "f", any_number);
  REQUIRE(index);
  REQUIRE(index->records() == 3);
  std::string payload;
  REQUIRE(index->read(*file, 0, payload));
  CHECK(payload == "alpha");
  REQUIRE(index->read(*file, 1, payload));
  CHECK(payload.empty());
  const auto damaged = index->read(*file, 2, payload);
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().message == "f: the record at offset 37 is damaged: the checksum of its 5 bytes is wrong");
}

TEST_CASE("an index of a file that is cut off or has a wrong length is data_loss with record and offset") {
  const auto whole = records_of({"alpha", "beta"});
  const auto indexed = [](std::string_view bytes) { return record_index::of(*file_with(bytes), "f", any_number); };
  for (size_t length = 0; length <= whole.size(); ++length) {
    const auto index = indexed(std::string_view{whole}.substr(0, length));
    CAPTURE(length);
    REQUIRE(index.has_value() == (length == 0 || length == 21 || length == 41));
    if (!index)
      CHECK(has(index.error().message,
                length < 21 ? "record 0 at offset 0 is cut off" : "record 1 at offset 21 is cut off"));
  }
  auto wrong = whole;
  wrong[21] = '\x7f';
  CHECK(indexed(wrong).error().message == "f: record 1 at offset 21 is damaged: the checksum of its length is wrong");
}

TEST_CASE("an index that may keep fewer places than there are records finds each of them, in any order") {
  std::vector<std::string> payloads;
  for (int i = 0; i < 1000; ++i)
    payloads.push_back(std::string(static_cast<size_t>(i * 37 % 50), 'x') + std::to_string(i));
  const auto file = file_with(records_of(payloads));
  for (const int64_t places_max : {1, 2, 3, 16, 999, 1000}) {
    CAPTURE(places_max);
    auto index = record_index::of(*file, "f", places_max);
    REQUIRE(index);
    REQUIRE(index->records() == 1000);
    std::string payload;
    for (int64_t i = 0; i < 1000; ++i) {
      const int64_t in_order = i, scattered = i * 619 % 1000;
      REQUIRE(index->read(*file, in_order, payload));
      CHECK(payload == payloads[static_cast<size_t>(in_order)]);
      REQUIRE(index->read(*file, scattered, payload));
      CHECK(payload == payloads[static_cast<size_t>(scattered)]);
    }
  }
}

TEST_CASE("an index of many records takes no more memory than the places that it may keep") {
  repeated_file_system files{"", records_of({"x"}), 500'000};
  const auto file = std::move(*files.open("f"));
  auto index = record_index::of(*file, "f", 1 << 12);
  REQUIRE(index);
  CHECK(index->records() == 500'000);
  CHECK(files.held_max() < 1 << 20);
  std::string payload;
  REQUIRE(index->read(*file, 499'999, payload));
  CHECK(payload == "x");
}

}  // namespace troupe
