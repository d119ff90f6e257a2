#include "storage/records/record_framing.hpp"

#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

namespace troupe {

namespace {

/// The payloads up to the end or up to an error.
struct parsed {
  std::vector<std::string> payloads;
  std::optional<error> failed;
  int64_t offset = 0;
  bool torn = false;
};

parsed parse(std::string_view bytes) {
  auto fs = memory_file_system();
  REQUIRE(write_file_atomically(*fs, "", "f", bytes));
  const auto file = std::move(*fs->open("f"));
  const auto source = std::move(*open_source(*file, "f", compression::none));
  record_parser records{*source, "f"};
  parsed result;
  for (;;) {
    const auto payload = records.next();
    result.offset = records.offset();
    result.torn = records.torn();
    if (!payload)
      result.failed = payload.error();
    if (!payload || !*payload)
      break;
    result.payloads.emplace_back(**payload);
  }
  if (result.failed)
    CHECK(records.next().error() == *result.failed);
  return result;
}

}  // namespace

TEST_CASE("the mask rotates by 15 and adds") {
  CHECK(masked_crc32c("123456789") == ((0xe3069283u >> 15 | 0xe3069283u << 17) + 0xa282ead8u));
}

TEST_CASE("a record is length, checksum, payload, checksum: the bytes that another writer of the format gives") {
  std::string bytes;
  append_record(bytes, "abc");
  // The Python package tfrecord 1.14 writes these bytes. docs/record_format.md shows them.
  CHECK(bytes
        == std::string("\3\0\0\0\0\0\0\0"
                       "\xb0\x99\x49\x0e"
                       "abc"
                       "\x6e\x57\xf1\x21",
                       19));
  std::string halves = "before";
  const size_t begin = begin_record(halves);
  halves += "abc";
  end_record(halves, begin);
  CHECK(halves == "before" + bytes);
}

TEST_CASE("records of any size, empty ones too, are parsed in order up to the end") {
  const std::vector<std::string> payloads{"", "a", std::string(300'000, 'b'), "", std::string(3'000'000, 'c'), "d"};
  std::string bytes;
  for (const auto& p : payloads)
    append_record(bytes, p);
  const auto result = parse(bytes);
  CHECK_FALSE(result.failed);
  CHECK((result.payloads == payloads));
  CHECK(result.offset == std::ssize(bytes));
  CHECK(parse("").payloads.empty());
  CHECK_FALSE(parse("").failed);
}

TEST_CASE("a length that the file cannot have is refused, naming both, before memory is taken for it") {
  for (const uint64_t length : {uint64_t{1} << 40, uint64_t{1} << 62, ~uint64_t{0}, ~uint64_t{0} - 15, uint64_t{4}}) {
    std::string bytes;
    append_record(bytes, "abc");
    std::memcpy(bytes.data(), &length, sizeof length);
    const uint32_t sum = masked_crc32c({bytes.data(), 8});
    std::memcpy(bytes.data() + 8, &sum, sizeof sum);
    const auto result = parse(bytes);
    REQUIRE(result.failed);
    CHECK(result.failed->category == errc::data_loss);
    CHECK(has(result.failed->message,
              "offset 0 is cut off: wanted " + std::to_string(length) + " + 4 bytes, found at most 7"));
    CHECK(result.torn);
  }
}

TEST_CASE("a checksum that is wrong is damage and not the torn end of a file, and names offset and cause") {
  std::string bytes;
  append_record(bytes, "abc");
  append_record(bytes, "defg");
  auto length = bytes, payload = bytes;
  length[19] = '\x05';
  payload[31] = 'x';
  CHECK(parse(length).failed->message == "f: the record at offset 19 is damaged: the checksum of its length is wrong");
  CHECK(parse(payload).failed->message
        == "f: the record at offset 19 is damaged: the checksum of its 4 bytes is wrong");
  CHECK_FALSE(parse(length).torn);
  CHECK_FALSE(parse(payload).torn);
  CHECK(parse(payload).payloads == std::vector<std::string>{"abc"});
  CHECK_MESSAGE(parse(std::string(4096, '\0')).failed, "zeros, which a crash may leave behind, are no empty records");
}

}  // namespace troupe
