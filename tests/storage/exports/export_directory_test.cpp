#include "storage/exports/export_directory.hpp"

#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/exports/export_samples.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/delegating_file_system.hpp"
#include "tests/support/has.hpp"

#include <cstdio>
#include <filesystem>

namespace troupe {

namespace {

const std::string base = "/m/export/latest";

/// A clock that stands still until a test moves it.
struct fake_clock {
  std::shared_ptr<int64_t> now = std::make_shared<int64_t>(1'700'000'000);
  export_clock get() const {
    return [now = now] { return *now; };
  }
};

std::string write(file_system& fs, int64_t step, const fake_clock& clock = {}, const export_assets& assets = {}) {
  const auto path = write_export(fs, base, sample_export(step), assets, clock.get());
  REQUIRE_MESSAGE(path, (path ? "" : to_text(path.error())));
  return *path;
}

/// The steps of all exports. Each export must be readable and complete.
std::vector<int64_t> steps_in(file_system& fs) {
  std::vector<int64_t> steps;
  const auto numbers = exports_in(fs, base);
  REQUIRE(numbers);
  for (const int64_t n : *numbers) {
    const auto content = read_export(fs, join_path(base, std::to_string(n)));
    REQUIRE_MESSAGE(content, (content ? "" : to_text(content.error())));
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
  CHECK(names_in(*disk, path)
        == std::vector<std::string>{"assets.extra", "graph.json", "manifest.json", "preparation.json", "signature.json",
                                    "weights.safetensors"});
  CHECK(read_file(*disk, path + "/assets.extra/lists/vocabulary.txt") == "coat\nbag\n");
  CHECK(same(*read_export(*disk, path), sample_export(7)));
}

TEST_CASE("[EST-38] forty exports of one second have forty names that ascend, and nobody waits for a second to pass") {
  auto disk = memory_file_system();
  const fake_clock clock;
  for (int64_t i = 0; i < 40; ++i)
    CHECK(write(*disk, i, clock) == base + "/" + std::to_string(1'700'000'000 + i));
  *clock.now += 10;
  CHECK(write(*disk, 40, clock) == base + "/1700000040");
  *clock.now += 3600;
  CHECK(write(*disk, 41, clock) == base + "/1700003610");
  CHECK(steps_in(*disk).size() == 42);
}

TEST_CASE(
    "[EST-38] where others have taken a hundred numbers an export ends in a state error, which names the first of "
    "them") {
  auto disk = memory_file_system();
  for (int64_t n = 1'700'000'000; n < 1'700'000'100; ++n)
    REQUIRE(disk->create_directories(base + "/temp-" + std::to_string(n)));
  const auto none = write_export(*disk, base, sample_export(3), {}, fake_clock{}.get());
  REQUIRE_FALSE(none);
  CHECK(none.error().category == errc::state);
  CHECK(has(none.error().message, base + ": 100 numbers from 1700000000 on are taken"));
  CHECK(names_in(*disk, base).size() == 100);
}

TEST_CASE(
    "an export that is made after the clock was set back has the greatest number, and is not the first to be removed") {
  auto disk = memory_file_system();
  fake_clock clock;
  write(*disk, 1, clock);
  *clock.now -= 3600;
  CHECK(write(*disk, 2, clock) == base + "/1700000001");
  CHECK(write(*disk, 3, clock) == base + "/1700000002");
  REQUIRE(keep_exports(*disk, base, 1));
  CHECK(steps_in(*disk) == std::vector<int64_t>{3});
  REQUIRE(disk->create_directories(base + "/17000000000000"));  // Too many digits for an export.
  CHECK(write(*disk, 4, clock) == base + "/1700000003");
  REQUIRE(disk->create_directories(base + "/9999999999"));  // The greatest name of ten digits.
  CHECK(write(*disk, 5, clock) == base + "/1700000004");
}

TEST_CASE("an export that somebody removes while it is made, with all that is beside it, is made anew") {
  struct swept final : delegating_file_system {
    swept(std::shared_ptr<memory_disk> inner, int64_t at)
      : delegating_file_system(inner), disk(std::move(inner)), nth(at) {}
    void pass() {
      if (--nth == 0 && disk->info("/m/export"))
        disk->remove_directory("/m/export");
    }
    expected<std::unique_ptr<writable_file>> create(const std::string& path) override {
      return pass(), delegating_file_system::create(path);
    }
    expected<void> rename(const std::string& from, const std::string& to) override {
      return pass(), delegating_file_system::rename(from, to);
    }
    expected<bool> create_directory(const std::string& path) override {
      return pass(), delegating_file_system::create_directory(path);
    }
    expected<void> sync_directory(const std::string& path) override {
      return pass(), delegating_file_system::sync_directory(path);
    }
    expected<std::vector<file_info>> list(const std::string& path) override {
      return pass(), delegating_file_system::list(path);
    }
    std::shared_ptr<memory_disk> disk;
    int64_t nth;
  };
  int64_t calls = 0;
  for (bool reached = true; reached; ++calls) {
    CAPTURE(calls);
    auto disk = memory_disk::make();
    put(*disk, "/words/a.txt", "a");
    const fake_clock clock;
    write(*disk, 1, clock);
    swept fs{disk, calls + 1};
    const auto path = write_export(fs, base, sample_export(2), {{"a.txt", "/words/a.txt"}}, clock.get());
    REQUIRE_MESSAGE(path, (path ? "" : to_text(path.error())));
    reached = fs.nth <= 0;
    if (reached && !disk->info(*path))
      continue;  // The whole export was removed after it was made.
    CHECK(steps_in(*disk) == (reached ? std::vector<int64_t>{2} : std::vector<int64_t>{1, 2}));
    CHECK(read_file(*disk, *path + "/assets.extra/a.txt") == "a");
    CHECK(names_in(*disk, base).size() == (reached ? 1 : 2));
  }
  CHECK(calls > 10);
}

TEST_CASE("an export of which somebody removes one file while it is made is made anew") {
  for (const std::string file :
       {"graph.json", "weights.safetensors", "signature.json", "preparation.json", "assets.extra/a.txt"}) {
    CAPTURE(file);
    struct thief final : delegating_file_system {
      thief(std::shared_ptr<file_system> inner, std::string of)
        : delegating_file_system(std::move(inner)), what(std::move(of)) {}
      expected<std::unique_ptr<writable_file>> create(const std::string& path) override {
        if (path.ends_with("/manifest.json") && !what.empty())
          CHECK(remove(join_path(path.substr(0, path.rfind('/')), std::exchange(what, {}))));
        return delegating_file_system::create(path);
      }
      std::string what;
    };
    const auto disk = memory_file_system();
    put(*disk, "/words/a.txt", "a");
    thief fs{disk, file};
    write(fs, 1, {}, {{"a.txt", "/words/a.txt"}});
    CHECK(steps_in(*disk) == std::vector<int64_t>{1});
    CHECK(names_in(*disk, base).size() == 1);
  }
}

TEST_CASE("a number whose temporary directory another process has made is not taken") {
  auto disk = memory_file_system();
  REQUIRE(disk->create_directories(base + "/temp-1700000000"));
  CHECK(write(*disk, 1) == base + "/1700000001");
  CHECK(names_in(*disk, base) == std::vector<std::string>{"1700000001", "temp-1700000000"});
}

TEST_CASE("the next export removes what dead processes have left, and nothing that another one may be writing") {
  auto disk = memory_file_system();
  const std::vector<std::string> stay{"temp-1699913601", "temp-",     "temp-abc", "temp-16999136000",
                                      "removed-",        "removed-x", "mine"};
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

TEST_CASE(
    "after a crash at any call of an export the old and perhaps the new one are there, both whole, and the next export "
    "succeeds") {
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
      const bool reported = write_export(*faulty, base, sample_export(2), {{"a.txt", "/words/a.txt"}}, clock.get())
                                .has_value();
      finished = faulty->calls() < points;
      disk->crash({.torn_tails = variant >= 2,
                   .entries_may_survive = variant >= 2,
                   .seed = static_cast<uint64_t>(points * 8 + variant)});
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
    // After the rename only one call can fail, the sync that makes the name durable. The check whether a directory
    // exists may fail without an effect.
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
      disk->crash({.torn_tails = variant >= 2,
                   .entries_may_survive = variant >= 2,
                   .seed = static_cast<uint64_t>(calls * 8 + variant)});
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

TEST_CASE(
    "[EST-65] of seven exports the five newest are kept; other names, and directories that are no exports, are not "
    "touched") {
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
        == std::vector<std::string>{"123456789", "1600000000", "1600000001", "1700000002", "1700000003", "1700000004",
                                    "1700000005", "1700000006", "abc"});
  CHECK(read_file(*disk, base + "/1600000000/somebody's.txt") == "x");
  CHECK(keep_exports(*disk, base, 5)->empty());
  CHECK(keep_exports(*disk, "/nowhere", 5)->empty());
}

TEST_CASE("an export at which one cannot look is not counted, and holds up the removal of no other") {
  const temporary_directory real;
  const auto files = posix_file_system();
  for (const auto* name : {"1700000000", "1700000001", "1700000002"})
    put(*files, real.path + "/" + name + "/graph.json", "x");
  std::filesystem::create_directory(real.path + "/1700000003");
  std::filesystem::create_symlink("graph.json", real.path + "/1700000003/graph.json");
  const auto removed = keep_exports(*files, real.path, 2);
  REQUIRE_MESSAGE(removed, (removed ? "" : to_text(removed.error())));
  CHECK(*removed == std::vector<std::string>{real.path + "/1700000000"});
  CHECK(names_in(*files, real.path) == std::vector<std::string>{"1700000001", "1700000002", "1700000003"});
}

TEST_CASE(
    "extra assets with paths that lead elsewhere are refused before anything is written, and one that is missing "
    "leaves nothing") {
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
