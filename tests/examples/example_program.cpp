#include "tests/examples/example_program.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace troupe::test {

example_program::example_program(std::vector<std::string> command, const std::map<std::string, std::string>& more) {
  int in[2], out[2];
  REQUIRE(::pipe2(in, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
  std::vector<std::string> variables;
  for (const auto& [name, value] : more)
    variables.push_back(name + "=" + value);
  for (char** v = environ; *v; ++v)
    if (const std::string_view given{*v}; !more.contains(std::string{given.substr(0, given.find('='))}))
      variables.emplace_back(given);
  const auto pointers = [](std::vector<std::string>& words) {
    std::vector<char*> all;
    for (auto& w : words)
      all.push_back(w.data());
    all.push_back(nullptr);
    return all;
  };
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDERR_FILENO);
  const int failed = ::posix_spawnp(&child_, command[0].c_str(), &actions, nullptr, pointers(command).data(),
                                    pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  if (failed != 0)
    child_ = -1;
  REQUIRE_MESSAGE(failed == 0, command[0] << " could not be started");
}

example_program::~example_program() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  for (const int end : {to_, from_})
    if (end >= 0)
      ::close(end);
}

void example_program::tell(const std::string& line) {
  const std::string whole = line + "\n";
  if (::write(to_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size()))
    FAIL("the program does not listen");
}

bool example_program::read_some() {
  char bytes[4096];
  const ssize_t n = ::read(from_, bytes, sizeof bytes);
  if (n > 0)
    text_.append(bytes, static_cast<size_t>(n));
  return n > 0;
}

std::string example_program::hear() {
  size_t end;
  while ((end = text_.find('\n', heard_)) == std::string::npos)
    if (!read_some())
      return "";
  const size_t begin = std::exchange(heard_, end + 1);
  return text_.substr(begin, end - begin);
}

int example_program::finish() {
  ::close(std::exchange(to_, -1));
  while (read_some()) {}
  int status = 0;
  ::waitpid(std::exchange(child_, -1), &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace troupe::test
