#include "tests/scenarios/trainer_process.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace troupe {

trainer_process::trainer_process(const std::vector<std::string>& arguments) {
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
  std::string program = TROUPE_TRAINER;
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

trainer_process::~trainer_process() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  ::close(output_);
  ::close(input_);
}

bool trainer_process::listen(std::chrono::milliseconds patience) {
  pollfd said{output_, POLLIN, 0};
  if (::poll(&said, 1, static_cast<int>(patience.count())) <= 0)
    return true;
  char bytes[4096];
  const ssize_t n = ::read(output_, bytes, sizeof bytes);
  if (n < 0)
    return errno == EAGAIN || errno == EINTR;
  partial_.append(bytes, static_cast<size_t>(n));
  for (size_t end; (end = partial_.find('\n')) != std::string::npos; partial_.erase(0, end + 1))
    hear(partial_.substr(0, end));
  return n > 0;
}

void trainer_process::kill() {
  REQUIRE(::kill(process_, SIGKILL) == 0);
  const int status = wait();
  CHECK_MESSAGE(status == -SIGKILL, "the trainer had ended before it was killed: " << status << " " << error);
}

int trainer_process::wait() {
  while (listen(std::chrono::milliseconds{-1})) {}
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0)
    REQUIRE(errno == EINTR);
  process_ = -1;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void trainer_process::hear(const std::string& line) {
  ++lines;
  const size_t space = line.find(' ');
  const std::string what = line.substr(0, space), rest = space == std::string::npos ? "" : line.substr(space + 1);
  const int64_t step = std::atoll(rest.c_str());
  if (what == "started") {
    started = reached = step;
  } else if (what == "step") {
    reached = std::max(reached, step);
  } else if (what == "saved") {
    saved = std::max(saved, step);
  } else if (what == "gate") {
    gate = step;
    reached = std::max(reached, step);
  } else if (what == "done") {
    done = step;
  } else if (what == "metric") {
    metrics[rest.substr(0, rest.find(' '))] = rest.substr(rest.find(' ') + 1);
  } else if (what == "error") {
    error = rest;
  } else {
    FAIL_CHECK("the trainer said '" << line << "'");
  }
}

}  // namespace troupe
