// What only the real disk can show: full disks, limits, signals, processes that end.
#include "storage/files/file_system.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <thread>

namespace troupe {

using test::has;

TEST_CASE("a full disk and too many open files are resource_exhausted on the real disk") {
  auto fs = posix_file_system();
  auto full = fs->create("/dev/full");
  REQUIRE(full);
  const auto written = (*full)->append(std::as_bytes(std::span{std::string_view{"x"}}));
  REQUIRE_FALSE(written);
  CHECK(written.error().category == errc::resource_exhausted);
  CHECK(has(written.error().message, "write /dev/full"));

  const temporary_directory disk;
  REQUIRE(write_file_atomically(*fs, disk.path, "f", "x"));
  std::vector<std::unique_ptr<readable_file>> files;
  const rlim_t before = [] {
    rlimit limit;
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const rlim_t soft = limit.rlim_cur;
    limit.rlim_cur = 64;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    return soft;
  }();
  std::optional<error> last;
  while (!last && files.size() < 100) {
    auto file = fs->open(disk.path + "/f");
    if (file)
      files.push_back(std::move(*file));
    else
      last = file.error();
  }
  rlimit limit;
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = before;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  REQUIRE(last);
  CHECK(last->category == errc::resource_exhausted);
}

TEST_CASE("signals that interrupt a slow read or write are not errors") {
  const temporary_directory disk;
  const std::string pipe = disk.path + "/pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  struct sigaction action {
  }, old{};
  action.sa_handler = [](int) {};  // Without SA_RESTART calls return EINTR.
  ::sigaction(SIGUSR1, &action, &old);
  expected<void> written;
  std::atomic<bool> done = false;
  const std::string text(1 << 20, 'x');  // More than a pipe holds: the writer must wait.
  std::thread writer{[&] {
    auto file = posix_file_system()->create(pipe);  // Blocks until a reader opens it.
    written = file ? (*file)->append(std::as_bytes(std::span{text})) : fail(file.error());
    done = true;
  }};
  const auto disturb = [&] {
    ::pthread_kill(writer.native_handle(), SIGUSR1);
    for (int i = 0; i < 1000; ++i)
      std::this_thread::yield();
  };
  for (int i = 0; i < 20; ++i)
    disturb();
  const int fd = ::open(pipe.c_str(), O_RDONLY | O_CLOEXEC);
  size_t received = 0;
  for (std::vector<char> buffer(1 << 16); received < text.size();) {
    disturb();
    const auto n = ::read(fd, buffer.data(), buffer.size());
    if (n == 0)
      break;
    received += n > 0 ? static_cast<size_t>(n) : 0;
  }
  writer.join();
  ::close(fd);
  ::sigaction(SIGUSR1, &old, nullptr);
  CHECK(written);
  CHECK(received == text.size());
}

TEST_CASE("nobody owns a directory whose lock file is a pipe or a directory, and the look at it does not wait") {
  const temporary_directory disk;
  auto fs = posix_file_system();
  const std::string path = disk.path + "/.lock";
  const auto refused = [&](const std::string& text) {
    const auto lock = fs->lock(disk.path);
    REQUIRE_FALSE(lock);
    CHECK(lock.error().category == errc::failed_precondition);
    CHECK_MESSAGE(has(lock.error().message, text), lock.error().message);
    const auto owner = fs->lock_owner(disk.path);
    REQUIRE(owner);
    CHECK_FALSE(owner->has_value());
  };
  ::alarm(60);  // Ends the test if an open waits for the other end.
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  refused("cannot lock " + path + ": it is a pipe, and a regular file is wanted");
  ::alarm(0);
  REQUIRE(fs->remove(path));
  REQUIRE(fs->create_directory(path));
  refused("cannot lock " + path + ": Is a directory");
}

TEST_CASE("a lock ends with the process that held it, however that ended, and names it until then") {
  const temporary_directory disk;
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = posix_file_system()->lock(disk.path);
    const char c = lock ? 'y' : 'n';
    (void)!::write(ready[1], &c, 1);
    ::alarm(30);  // Ends the child if the parent fails before.
    ::pause();
    ::_exit(0);
  }
  char c = 0;
  REQUIRE(::read(ready[0], &c, 1) == 1);
  CHECK(c == 'y');
  const auto refused = posix_file_system()->lock(disk.path);
  REQUIRE_FALSE(refused);
  CHECK(has(refused.error().message, "process " + std::to_string(child)));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  CHECK(posix_file_system()->lock(disk.path));
}

}  // namespace troupe
