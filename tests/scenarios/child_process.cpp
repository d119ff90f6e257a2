#include "tests/scenarios/child_process.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace troupe {

child_process::child_process(std::string program, const std::vector<std::string>& arguments,
                             std::function<void(const std::string&)> hear)
  : hear_(std::move(hear)) {
  int from_child[2], to_child[2];
  REQUIRE(::pipe2(from_child, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(to_child, O_CLOEXEC) == 0);
  output_ = from_child[0];
  input_ = to_child[1];
  REQUIRE(::fcntl(output_, F_SETFL, O_NONBLOCK) == 0);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to_child[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from_child[1], STDOUT_FILENO);
  std::vector<std::string> words = arguments;
  std::vector<char*> argv{program.data()};
  for (auto& w : words)
    argv.push_back(w.data());
  argv.push_back(nullptr);
  const int failed = ::posix_spawn(&process_, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(from_child[1]);
  ::close(to_child[0]);
  if (failed != 0)
    process_ = -1;
  REQUIRE_MESSAGE(failed == 0, program << " could not be started");
}

child_process::~child_process() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  ::close(output_);
  ::close(input_);
}

bool child_process::listen(std::chrono::milliseconds patience) {
  pollfd said{output_, POLLIN, 0};
  if (::poll(&said, 1, static_cast<int>(patience.count())) <= 0)
    return true;
  char bytes[4096];
  const ssize_t n = ::read(output_, bytes, sizeof bytes);
  if (n < 0)
    return errno == EAGAIN || errno == EINTR;
  partial_.append(bytes, static_cast<size_t>(n));
  for (size_t end; (end = partial_.find('\n')) != std::string::npos; partial_.erase(0, end + 1))
    hear_(partial_.substr(0, end));
  return n > 0;
}

void child_process::say(const std::string& line) {
  const std::string all = line + "\n";
  REQUIRE(::write(input_, all.data(), all.size()) == static_cast<ssize_t>(all.size()));
}

void child_process::send(int signal) { REQUIRE(::kill(process_, signal) == 0); }

int child_process::wait() {
  while (listen(std::chrono::milliseconds{-1})) {}
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0)
    REQUIRE(errno == EINTR);
  process_ = -1;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace troupe
