#include "storage/exports/export_directory.hpp"

#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/exports/export_samples.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

#include <cstdio>

namespace troupe {

namespace {

const std::string base = "/m/export/latest";

/// A clock that is moved by those who sleep, and stands still otherwise.
struct fake_clock {
  std::shared_ptr<int64_t> now = std::make_shared<int64_t>(1'700'000'000);
  bool blocked = false;
  export_clock get() const {
    return {[now = now] { return *now; }, [now = now, blocked = blocked](double seconds) { *now += blocked ? 0 : static_cast<int64_t>(seconds); }};
  }
};

std::string write(file_system& fs, int64_t step, const fake_clock& clock = {}, const export_assets& assets = {}) {
  const auto path = write_export(fs, base, sample_export(step), assets, clock.get());
  REQUIRE_MESSAGE(path, (path ? "" : to_string(path.error())));
  return *path;
}

/// The steps of all exports, each of which is read whole.
std::vector<int64_t> steps_in(file_system& fs) {
  std::vector<int64_t> steps;
  const auto numbers = exports_in(fs, base);
  REQUIRE(numbers);
  for (const int64_t n : *numbers) {
    const auto content = read_export(fs, join_path(base, std::to_string(n)));
    REQUIRE_MESSAGE(content, (content ? "" : to_string(content.error())));
    CHECK(same(*content, sample_export(content->origin.global_step)));
    steps.push_back(content->origin.global_step);
  }
  return steps;
}

void put(file_system& fs, const std::string& path, const std::string& text) {
  REQUIRE(fs.create_directories(path.substr(0, path.rfind('/'))));
  REQUIRE(write_file_atomically(fs, path.substr(0, path.rfind('/')), path.substr(path.rfind('/') + 1), text));
}

}  // namespace

TEST_CASE("an export is read as it was written, with its assets beside it and no temporary directory left") {
  auto disk = memory_file_system();
  put(*disk, "/words/vocabulary.txt", "coat\nbag\n");
  const auto path = write(*disk, 7, {}, {{"lists/vocabulary.txt", "/words/vocabulary.txt"}});
  CHECK(path == base + "/1700000000");
  CHECK(names_in(*disk, base) == std::vector<std::string>{"1700000000"});
  CHECK(names_in(*disk, path) == std::vector<std::string>{"assets.extra", "graph.json", "preparation.json", "signature.json", "weights.safetensors"});
  CHECK(read_file(*disk, path + "/assets.extra/lists/vocabulary.txt") == "coat\nbag\n");
  CHECK(same(*read_export(*disk, path), sample_export(7)));
}

TEST_CASE("[EST-38] two exports of one second have two names, and a clock that stands still ends in a state error after ten tries") {
  auto disk = memory_file_system();
  fake_clock clock;
  CHECK(write(*disk, 1, clock) == base + "/1700000000");
  CHECK(write(*disk, 2, clock) == base + "/1700000001");
  clock.blocked = true;
  const auto none = write_export(*disk, base, sample_export(3), {}, clock.get());
  REQUIRE_FALSE(none);
  CHECK(none.error().category == errc::state);
  CHECK(has(none.error().message, base + ": 1700000001 is taken, and it was tried 10 times"));
  CHECK(steps_in(*disk) == std::vector<int64_t>{1, 2});
  CHECK(names_in(*disk, base).size() == 2);
}

TEST_CASE("an export that is made after the clock was set back has the greatest number, and is not the first to be removed") {
  auto disk = memory_file_system();
  fake_clock clock;
  write(*disk, 1, clock);
  *clock.now -= 3600;
  CHECK(write(*disk, 2, clock) == base + "/1700000001");
  CHECK(write(*disk, 3, clock) == base + "/1700000002");
  REQUIRE(keep_exports(*disk, base, 1));
  CHECK(steps_in(*disk) == std::vector<int64_t>{3});
  REQUIRE(disk->create_directories(base + "/17000000000000"));  // No export of ours.
  CHECK(write(*disk, 4, clock) == base + "/1700000003");
  REQUIRE(disk->create_directories(base + "/9999999999"));  // Nothing of ten digits is above it.
  CHECK(write(*disk, 5, clock) == base + "/1700000004");
}

TEST_CASE("a number whose temporary directory another process has made is not taken") {
  auto disk = memory_file_system();
  REQUIRE(disk->create_directories(base + "/temp-1700000000"));
  CHECK(write(*disk, 1) == base + "/1700000001");
  CHECK(names_in(*disk, base) == std::vector<std::string>{"1700000001", "temp-1700000000"});
}

TEST_CASE("the next export removes what dead processes have left, and nothing that another one may be writing") {
  auto disk = memory_file_system();
  const std::vector<std::string> stay{"temp-1699913601", "temp-", "temp-abc", "temp-16999136000", "removed-", "removed-x", "mine"};
  for (const std::string name : {"temp-1699913599", "removed-1699999999"})
    put(*disk, base + "/" + name + "/assets.extra/a.txt", "a");
  for (const auto& name : stay)
    put(*disk, base + "/" + name + "/a.txt", "a");
  put(*disk, base + "/temp-1600000000", "a file");
  CHECK(write(*disk, 1) == base + "/1700000000");
  std::vector<std::string> there = stay;
  there.insert(there.end(), {"1700000000", "temp-1600000000"});
  std::sort(there.begin(), there.end());
  auto names = names_in(*disk, base);
  std::sort(names.begin(), names.end());
  CHECK(names == there);
}

TEST_CASE("an export is well where what others have left cannot be removed") {
  auto disk = memory_disk::make();
  put(*disk, base + "/removed-1699999999/a.txt", "a");
  auto faulty = faulty_file_system::around(disk);
  faulty->inject({.operation = file_operation::remove, .for_ever = true});
  CHECK(write(*faulty, 1) == base + "/1700000000");
  CHECK(faulty->failures() > 0);
}

TEST_CASE("after a crash at any call of an export the old and perhaps the new one are there, both whole, and the next export succeeds") {
  int64_t points = 0;
  for (bool finished = false; !finished; ++points) {
    CAPTURE(points);
    for (int variant = 0; variant < 8; ++variant) {
      CAPTURE(variant);
      auto disk = memory_disk::make();
      put(*disk, "/words/a.txt", "a");
      REQUIRE(disk->sync_directory("/"));
      const fake_clock clock;
      write(*disk, 1, clock);
      auto faulty = faulty_file_system::around(disk);
      faulty->fail_after(points, variant % 2 == 1);
      const bool reported = write_export(*faulty, base, sample_export(2), {{"a.txt", "/words/a.txt"}}, clock.get()).has_value();
      finished = faulty->calls() < points;
      disk->crash({.torn_tails = variant >= 2, .entries_may_survive = variant >= 2, .seed = static_cast<uint64_t>(points * 8 + variant)});
      const auto steps = steps_in(*disk);
      CHECK((steps == std::vector<int64_t>{1, 2} || (steps == std::vector<int64_t>{1} && !reported)));
      write(*disk, 3, clock);
      CHECK(steps_in(*disk).back() == 3);
    }
  }
  std::printf("crash points of an export: %lld\n", static_cast<long long>(points));
  CHECK(points > 20);
}

TEST_CASE("a failed call of an export leaves no new name, and no temporary directory that could be removed") {
  for (int64_t nth = 1;; ++nth) {
    CAPTURE(nth);
    auto disk = memory_disk::make();
    const fake_clock clock;
    write(*disk, 1, clock);
    auto faulty = faulty_file_system::around(disk);
    faulty->inject({.nth = nth});
    const auto path = write_export(*faulty, base, sample_export(2), {}, clock.get());
    if (faulty->calls() < nth) {
      CHECK(path);
      break;
    }
    // Only the last call, which makes the name durable, comes after the rename; and the look at a directory that is there may fail unseen.
    const auto steps = steps_in(*disk);
    if (path)
      CHECK(steps == std::vector<int64_t>{1, 2});
    else
      CHECK(path.error().category == errc::resource_exhausted);
    if (!path && has(path.error().message, "sync directory " + base + ":"))
      CHECK(steps == std::vector<int64_t>{1, 2});
    else if (!path)
      CHECK(names_in(*disk, base) == std::vector<std::string>{"1700000000"});
  }
}

TEST_CASE("a crash while exports are removed leaves whole exports and no half of one") {
  for (int64_t calls = 0, finished = 0; finished == 0; ++calls) {
    CAPTURE(calls);
    for (int variant = 0; variant < 8; ++variant) {
      auto disk = memory_disk::make();
      const fake_clock clock;
      for (const int64_t step : {1, 2, 3, 4})
        write(*disk, step, clock);
      auto faulty = faulty_file_system::around(disk);
      faulty->fail_after(calls);
      const bool reported = keep_exports(*faulty, base, 2).has_value();
      finished = faulty->calls() < calls ? 1 : 0;
      disk->crash({.torn_tails = variant >= 2, .entries_may_survive = variant >= 2, .seed = static_cast<uint64_t>(calls * 8 + variant)});
      const auto steps = steps_in(*disk);
      REQUIRE(steps.size() >= 2);
      CHECK(steps.back() == 4);
      if (reported)
        CHECK(steps == std::vector<int64_t>{3, 4});
      CHECK(keep_exports(*disk, base, 2));
      CHECK(steps_in(*disk) == std::vector<int64_t>{3, 4});
    }
  }
}

TEST_CASE("[EST-65] of seven exports the five newest are kept; other names, and directories that are no exports, are not touched") {
  auto disk = memory_file_system();
  const fake_clock clock;
  for (int64_t step = 1; step <= 7; ++step)
    write(*disk, step, clock);
  put(*disk, base + "/abc/graph.json", "x");
  put(*disk, base + "/123456789/graph.json", "x");
  put(*disk, base + "/1600000000/somebody's.txt", "x");
  put(*disk, base + "/1600000001", "a file");
  const auto removed = keep_exports(*disk, base, 5);
  REQUIRE(removed);
  CHECK(*removed == std::vector<std::string>{base + "/1700000000", base + "/1700000001"});
  CHECK(names_in(*disk, base)
        == std::vector<std::string>{"123456789", "1600000000", "1600000001", "1700000002", "1700000003", "1700000004", "1700000005", "1700000006", "abc"});
  CHECK(read_file(*disk, base + "/1600000000/somebody's.txt") == "x");
  CHECK(keep_exports(*disk, base, 5)->empty());
  CHECK(keep_exports(*disk, "/nowhere", 5)->empty());
}

TEST_CASE("an export without a file, with a shorter one, with a flipped byte of a weight, or with one weight more is refused by the file's name") {
  const auto disk = memory_disk::make();
  const auto path = write(*disk, 7);
  const auto refused = [&](errc category, const std::string& names) {
    const auto content = read_export(*disk, path);
    REQUIRE_FALSE(content);
    CHECK(content.error().category == category);
    CHECK(has(content.error().message, names));
  };
  for (const auto name : {graph_file_name, weights_file_name, signature_file_name, preparation_file_name}) {
    CAPTURE(name);
    const auto file = join_path(path, name);
    const auto whole = *read_file(*disk, file);
    REQUIRE(disk->remove(file));
    if (name == graph_file_name)
      refused(errc::not_found, path + " is not an exported model: it has no graph.json");
    else
      refused(errc::data_loss, file + " is missing");
    put(*disk, file, whole.substr(0, whole.size() / 2));
    refused(errc::data_loss, file);
    put(*disk, file, whole);
    CHECK(read_export(*disk, path));
  }
  auto weights = *read_file(*disk, path + "/weights.safetensors");
  weights.back() ^= 1;
  put(*disk, path + "/weights.safetensors", weights);
  refused(errc::data_loss, "has the checksum");
  auto content = sample_export(7);
  content.tensors.erase("flags");
  auto other = memory_disk::make();
  REQUIRE(write_export(*other, base, content, {}, fake_clock{}.get()));
  put(*disk, path + "/graph.json", *read_file(*other, base + "/1700000000/graph.json"));
  refused(errc::data_loss, "the tensor 'flags' is none of graph.json");
}

TEST_CASE("extra assets with paths that lead elsewhere are refused before anything is written, and one that is missing leaves nothing") {
  auto disk = memory_file_system();
  for (const auto* name : {"", "/etc/x", "a/../x", "./x", "a//b", "a/"}) {
    CAPTURE(name);
    const auto path = write_export(*disk, base, sample_export(1), {{name, "/x"}}, fake_clock{}.get());
    REQUIRE_FALSE(path);
    CHECK(path.error().category == errc::invalid_argument);
    CHECK(has(path.error().message, "an extra asset needs a relative path without '.' and '..', not '"));
    CHECK(disk->list("/")->empty());
  }
  const auto path = write_export(*disk, base, sample_export(1), {{"x", "/x"}}, fake_clock{}.get());
  REQUIRE_FALSE(path);
  CHECK(path.error().category == errc::not_found);
  CHECK(disk->list(base)->empty());
}

}  // namespace troupe
