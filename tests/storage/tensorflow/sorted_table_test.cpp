#include "storage/tensorflow/sorted_table.hpp"

#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/varint.hpp"
#include "storage/tensorflow/table_layout.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

using namespace std::string_literals;

namespace troupe {

using namespace table_layout;

namespace {

std::vector<table_entry> some_entries(int count) {
  std::vector<table_entry> all{{"", "header"}};
  for (int i = 1; i < count; ++i) {
    const std::string number = std::to_string(1000 + i);
    all.push_back({"dnn/hiddenlayer_" + number + (i % 3 == 0 ? "/kernel" : "/bias"),
                   std::string(static_cast<size_t>(i % 40), static_cast<char>(i))});
  }
  return all;
}

expected<std::vector<table_entry>> read(std::string_view bytes) {
  auto fs = memory_file_system();
  REQUIRE(write_file_atomically(*fs, "", "f", bytes));
  return read_sorted_table(*fs->open("f").value(), "f");
}

/// A table with right checksums and one data block of these contents.
std::string table_of(const std::string& contents, char how = uncompressed) {
  const auto block = [](std::string bytes, char kind) {
    bytes.push_back(kind);
    append_fixed(bytes, masked(crc32c(bytes)));
    return bytes;
  };
  std::string table = block(contents, how), place;
  append_varint(place, 0);
  append_varint(place, contents.size());
  const std::string index = "\0\1"s + static_cast<char>(place.size()) + "z" + place + "\0\0\0\0\1\0\0\0"s,
                    nothing = "\0\0\0\0\1\0\0\0"s;
  std::string footer;
  append_varint(footer, table.size());
  append_varint(footer, nothing.size());
  table += block(nothing, uncompressed);
  append_varint(footer, table.size());
  append_varint(footer, index.size());
  table += block(index, uncompressed);
  footer.resize(footer_bytes - sizeof magic);
  append_fixed(footer, magic);
  return table + footer;
}
/// An entry whose key shares no beginning with the key before.
std::string entry(const std::string& key, const std::string& value) {
  return "\0"s + static_cast<char>(key.size()) + static_cast<char>(value.size()) + key + value;
}
const std::string one_restart = "\0\0\0\0\1\0\0\0"s;

std::string message_of(const std::string& table) {
  const auto found = read(table);
  return found ? "" : found.error().message;
}

}  // namespace

TEST_CASE("entries are read as they were written, whatever the size of a block") {
  for (const int count : {0, 1, 2, 17, 400})
    for (const size_t block_bytes : {size_t{1}, size_t{100}, size_t{4096}, size_t{1} << 18}) {
      CAPTURE(count);
      CAPTURE(block_bytes);
      const auto entries = count == 0 ? std::vector<table_entry>{} : some_entries(count);
      const auto found = read(write_sorted_table(entries, {.block_bytes = block_bytes}));
      REQUIRE_MESSAGE(found, (found ? "" : found.error().message));
      CHECK(*found == entries);
    }
}

TEST_CASE("a bit that flips in a block is damage, and one elsewhere is damage or changes nothing") {
  const auto entries = some_entries(40);
  const std::string table = write_sorted_table(entries, {.block_bytes = 300});
  size_t unnoticed = 0;
  for (size_t at = 0; at < table.size(); ++at) {
    std::string other = table;
    other[at] = static_cast<char>(other[at] ^ 4);
    const auto found = read(other);
    if (!found)
      CHECK((found.error().category == errc::data_loss || found.error().category == errc::unimplemented));
    else if (*found == entries)
      ++unnoticed;
    else
      FAIL("read other entries from byte " << at);
  }
  CHECK_MESSAGE(unnoticed < footer_bytes + 20, "the padding of the footer, and the metaindex, which is not read");
}

TEST_CASE("a table that is cut off anywhere is damaged") {
  const std::string table = write_sorted_table(some_entries(10), {.block_bytes = 64});
  for (size_t length = 0; length < table.size(); ++length) {
    const auto found = read(std::string_view{table}.substr(0, length));
    REQUIRE_FALSE(found);
    CHECK(found.error().category == errc::data_loss);
  }
}

TEST_CASE("a block in Snappy is read, and another compression is named") {
  const std::string contents = entry("a", "1") + entry("b", "2") + one_restart;
  const std::string packed = std::string(1, static_cast<char>(contents.size()))
                             + static_cast<char>((contents.size() - 1) << 2) + contents;
  const auto found = read(table_of(packed, snappy));
  REQUIRE_MESSAGE(found, (found ? "" : found.error().message));
  CHECK(*found == std::vector<table_entry>{{"a", "1"}, {"b", "2"}});
  CHECK(has(message_of(table_of(packed + "x", snappy)), "the block is no whole Snappy block"));
  CHECK(read(table_of(contents, 4)).error().category == errc::unimplemented);
  CHECK(has(message_of(table_of(contents, 4)), "is compressed by method 4; 0 (none) and 1 (Snappy) are known"));
}

TEST_CASE("what a sound checksum covers may still be wrong: keys, lengths and restarts") {
  CHECK(message_of(table_of(entry("a", "1") + one_restart)).empty());
  CHECK(has(message_of(table_of(entry("b", "1") + entry("a", "2") + one_restart)), "has keys that do not rise"));
  CHECK(has(message_of(table_of(entry("a", "1") + entry("a", "2") + one_restart)), "has keys that do not rise"));
  CHECK(has(message_of(table_of("\1\1\1a1"s + one_restart)), "has an entry that does not fit into it"));
  CHECK(has(message_of(table_of("\0\1\7a1"s + one_restart)), "has an entry that does not fit into it"));
  CHECK(has(message_of(table_of(entry("a", "1") + "\0\0\0\0\xff\0\0\0"s)), "has no room for its 255 restarts"));
  CHECK(has(message_of(table_of("")), "has no room for its 0 restarts"));
}

TEST_CASE("keys that share a long beginning are not decoded into more than a multiple of the file") {
  const std::string beginning(60'000, 'a');
  std::string contents = "\0"s;
  append_varint(contents, beginning.size());
  contents += "\0"s + beginning;
  for (int i = 0; i < 20'000; ++i) {  // 6 bytes an entry, whose key has 60,000 bytes.
    append_varint(contents, beginning.size());
    contents += "\3\0"s + static_cast<char>('a' + i / 400) + static_cast<char>('a' + i / 20 % 20)
                + static_cast<char>('a' + i % 20);
  }
  CHECK(has(message_of(table_of(contents + one_restart)), "decodes to more than 256 times the file's size"));
}

TEST_CASE("a file that is no table says so") {
  CHECK(has(message_of(std::string(100, 'x')), "f: at byte 92: the last 8 bytes are not those of a sorted table"));
  CHECK(has(message_of("short"), "f: at byte 0: it has 5 bytes, and a table has 48 at least"));
}

}  // namespace troupe
