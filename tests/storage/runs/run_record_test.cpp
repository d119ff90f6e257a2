#include "storage/runs/run_record.hpp"

#include "storage/encodings/sealed_text.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

namespace troupe {

namespace {

const run_record sample_record{.wall_time = 1.7e9,
                               .command = {"troupe", "train", "--config", "a \"b\".toml"},
                               .directory = "/home/me",
                               .versions = {{"troupe", "0.1.0"}},
                               .settings = {{"optimizer.rate", "1e-3"}},
                               .resolved = {{"optimizer.rate", "0.001"}, {"run.replicas", "1"}}};

bool same(const run_record& a, const run_record& b) { return run_record_text(a) == run_record_text(b); }

std::shared_ptr<file_system> disk_with(const run_record& record) {
  auto fs = memory_file_system();
  REQUIRE(fs->create_directories("/m"));
  REQUIRE(write_run_record(*fs, "/m", record));
  return fs;
}

}  // namespace

TEST_CASE("a record comes back as it was kept") {
  const auto fs = disk_with(sample_record);
  const auto read = load_run_record(*fs, "/m");
  REQUIRE_MESSAGE(read, (read ? "" : to_text(read.error())));
  CHECK(read->wall_time == sample_record.wall_time);
  CHECK(read->command == sample_record.command);
  CHECK(read->directory == sample_record.directory);
  CHECK(read->versions == sample_record.versions);
  CHECK(read->settings == sample_record.settings);
  CHECK(read->resolved == sample_record.resolved);
}

TEST_CASE("bytes that are no text are kept as far as they are") {
  const auto fs = disk_with({.command = {"a\xff"}, .directory = "/\xc3", .settings = {{"input.data", "/\xfe"}}});
  const auto read = load_run_record(*fs, "/m");
  REQUIRE(read);
  CHECK(read->command == std::vector<std::string>{"a\xef\xbf\xbd"});
  CHECK(read->settings.at("input.data") == "/\xef\xbf\xbd");
}

TEST_CASE("a flipped bit anywhere, and a file that is cut off anywhere, is damage of that file") {
  const std::string whole = run_record_text(sample_record);
  const auto damaged = [&](const std::string& text) {
    const auto read = parse_run_record(text, "/m/run.json");
    REQUIRE_FALSE(read);
    CHECK(read.error().category == errc::data_loss);
    CHECK(has(read.error().message, "/m/run.json is damaged: it"));
  };
  for (size_t at = 0; at < whole.size(); ++at) {
    CAPTURE(at);
    auto text = whole;
    text[at] = static_cast<char>(text[at] ^ (1 << at % 8));
    damaged(text);
    damaged(whole.substr(0, at));
  }
}

TEST_CASE("a directory without a record, or none, is not_found, and a later version's record is unimplemented") {
  auto fs = memory_file_system();
  CHECK(load_run_record(*fs, "/m").error().category == errc::not_found);
  REQUIRE(fs->create_directories("/m"));
  CHECK(load_run_record(*fs, "/m").error()
        == error{errc::not_found,
                 "/m does not say what it was configured with: it has no run.json",
                 {"it was made by a program of its own, or by a version that kept no record"}});
  std::string text = run_record_text(sample_record);
  REQUIRE(unseal(text, "crc32c"));
  const std::string one = "\"format_version\": 1";
  text = seal(text.replace(text.find(one), one.size(), "\"format_version\": 2"));
  const auto later = parse_run_record(text, "/m/run.json");
  CHECK(later.error() == error{errc::unimplemented, "/m/run.json: format version 2, and this program reads 1"});
}

TEST_CASE("whichever call on the file system fails, there is the old record or the new one, never half of one") {
  const run_record next{.settings = {{"optimizer.rate", "2"}}, .resolved = {{"optimizer.rate", "2"}}};
  auto counting = faulty_file_system::around(disk_with(sample_record));
  REQUIRE(write_run_record(*counting, "/m", next));
  for (int64_t n = 0; n < counting->calls(); ++n) {
    const auto disk = disk_with(sample_record);
    auto fs = faulty_file_system::around(disk);
    fs->fail_after(n, true);
    CHECK_FALSE(write_run_record(*fs, "/m", next));
    const auto read = load_run_record(*disk, "/m");
    REQUIRE(read);
    CHECK((same(*read, sample_record) || same(*read, next)));
  }
}

TEST_CASE("differences have every key whose resolved value changed, came or went") {
  const run_record now{.resolved = {{"optimizer.rate", "0.002"}, {"run.seed", "7"}}};
  const auto found = differences(sample_record, now);
  REQUIRE(found.size() == 3);
  CHECK(to_text(found[0]) == "optimizer.rate was 0.001 and is 0.002");
  CHECK(to_text(found[1]) == "run.replicas was 1 and has no say");
  CHECK(to_text(found[2]) == "run.seed had no say and is 7");
  CHECK(differences(now, now).empty());
}

}  // namespace troupe
