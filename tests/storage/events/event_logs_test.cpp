#include "storage/events/event_logs.hpp"

#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/events/scalar_log.hpp"
#include "tests/support/delegating_file_system.hpp"
#include "tests/support/has.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/whole_event_log.hpp"
#include "words/text.hpp"

namespace troupe {

using namespace test;

namespace {

log_event value_of(int64_t step) {
  auto event = scalar_at(step, 1);
  event.wall_time = logged_at;
  return event;
}

std::vector<int64_t> steps_in(file_system& files, const std::string& directory) {
  std::vector<int64_t> all;
  const auto paths = list_event_logs(files, directory);
  REQUIRE(paths);
  for (const auto& path : *paths) {
    const auto log = read_whole_log(files, path);
    REQUIRE(log);
    CHECK_FALSE(log->damage);
    for (size_t i = 1; i < log->events.size(); ++i)
      all.push_back(log->events[i].step);
  }
  return all;
}

/// Counts the files that are open for writing.
class counting_files final : public delegating_file_system {
 public:
  struct numbers {
    int now = 0, most = 0;
  };
  std::shared_ptr<numbers> counts = std::make_shared<numbers>();

  counting_files() : delegating_file_system(memory_file_system()) {}
  expected<std::unique_ptr<writable_file>> create_new(const std::string& path) override {
    return counted(delegating_file_system::create_new(path));
  }
  expected<std::unique_ptr<writable_file>> open_to_append(const std::string& path) override {
    return counted(delegating_file_system::open_to_append(path));
  }

 private:
  class counted_file final : public writable_file {
   public:
    counted_file(std::unique_ptr<writable_file> inner, std::shared_ptr<numbers> counts)
      : inner_(std::move(inner)), counts_(std::move(counts)) {
      counts_->most = std::max(counts_->most, ++counts_->now);
    }
    ~counted_file() override { --counts_->now; }
    expected<void> append(std::span<const std::byte> bytes) override { return inner_->append(bytes); }
    expected<void> sync() override { return inner_->sync(); }
    expected<void> close() override { return inner_->close(); }
    expected<bool> is_in_place() const override { return inner_->is_in_place(); }

   private:
    std::unique_ptr<writable_file> inner_;
    std::shared_ptr<numbers> counts_;
  };

  expected<std::unique_ptr<writable_file>> counted(expected<std::unique_ptr<writable_file>> file) const {
    if (!file || !*file)
      return file;
    return std::make_unique<counted_file>(std::move(*file), counts);
  }
};

}  // namespace

TEST_CASE("with more directories than files that may be open, each has one file with all of its events, in order") {
  const temporary_directory disk;
  for (const auto& files : {posix_file_system(), memory_file_system()}) {
    event_logs logs{files, {.open_max = 3}};
    const auto directory = [&](int i) { return disk.path + "/run/" + std::to_string(i); };
    std::vector<int64_t> wanted;
    for (int64_t step = 1; step <= 20; ++step) {
      wanted.push_back(step);
      for (int i = 0; i < 8; ++i)
        REQUIRE(logs.add(directory(i), value_of(step)));
      if (step % 5 == 0)
        REQUIRE(logs.flush());
      CHECK((logs.unflushed_bytes() == 0) == (step % 5 == 0));
    }
    REQUIRE(logs.close());
    CHECK(logs.take_remarks().empty());
    for (int i = 0; i < 8; ++i) {
      CHECK(list_event_logs(*files, directory(i))->size() == 1);
      CHECK(steps_in(*files, directory(i)) == wanted);
    }
  }
}

TEST_CASE("never are more files open than may be, whatever is added and flushed") {
  const auto files = std::make_shared<counting_files>();
  event_logs logs{files, {.open_max = 3}};
  for (int64_t step = 1; step <= 10; ++step)
    for (int i = 0; i < 8; ++i) {
      REQUIRE(logs.add("/" + std::to_string(i), value_of(step)));
      if (i % 3 == 0)
        REQUIRE(logs.flush());
    }
  REQUIRE(logs.close());
  CHECK_MESSAGE(files->counts->most == 4, "the new one is created before another is closed");
  CHECK(files->counts->now == 0);
}

TEST_CASE("files that are created after a beginning is known begin with it") {
  const auto files = memory_file_system();
  event_logs logs{files, {}};
  REQUIRE(logs.add("/a", value_of(3)));
  logs.begin_with({.step = 5, .note = session_note{}});
  REQUIRE(logs.add("/a", value_of(6)));
  REQUIRE(logs.add("/b", value_of(6)));
  REQUIRE(logs.close());
  CHECK(steps_in(*files, "/a") == std::vector<int64_t>{3, 6});
  CHECK(steps_in(*files, "/b") == std::vector<int64_t>{5, 6});
}

TEST_CASE("a file that is closed meanwhile, and that somebody changes, goes on in a new one, with a remark") {
  const temporary_directory disk;
  const auto files = posix_file_system();
  const auto directory = disk.path + "/run/";
  for (const std::string how : {"removed", "replaced", "untouched"}) {
    CAPTURE(how);
    event_logs logs{files, {.open_max = 1}};
    REQUIRE(logs.add(directory + how, value_of(1)));
    REQUIRE(logs.add(disk.path + "/other", value_of(1)));  // The first one is closed.
    const auto first = list_event_logs(*files, directory + how)->at(0);
    if (how == "removed")
      REQUIRE(files->remove(first));
    else if (how == "replaced")
      REQUIRE(write_file_atomically(*files, directory + how, file_name_of(first), *read_file(*files, first)));
    REQUIRE(logs.add(directory + how, value_of(2)));
    REQUIRE(logs.flush());
    const auto remarks = logs.take_remarks();
    REQUIRE(remarks.size() == (how == "untouched" ? 0 : 1));
    if (!remarks.empty())
      CHECK(has(remarks[0], first + " was removed, replaced or truncated"));
    REQUIRE(logs.close());
    CHECK(steps_in(*files, directory + how)
          == (how == "removed" ? std::vector<int64_t>{2} : std::vector<int64_t>{1, 2}));
  }
}

TEST_CASE("an error of every single call on the file system is returned, also where files are closed meanwhile") {
  const auto run = [](const std::shared_ptr<file_system>& files) -> expected<void> {
    event_logs logs{files, {.open_max = 1}};
    for (int64_t step = 1; step <= 2; ++step)
      for (const auto& directory : {"/a", "/b"})
        if (auto added = logs.add(directory, value_of(step)); !added)
          return added;
    return logs.flush().and_then([&] { return logs.close(); });
  };
  const auto counting = faulty_file_system::around(memory_file_system());
  REQUIRE(run(counting));
  for (int64_t n = 0; n < counting->calls(); ++n) {
    const auto files = faulty_file_system::around(memory_file_system());
    files->fail_after(n, true);
    const auto done = run(files);
    REQUIRE_FALSE(done);
    CHECK(done.error().category == errc::unavailable);
  }
}

}  // namespace troupe
