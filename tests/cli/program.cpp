#include "tests/cli/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace troupe::cli {

namespace {

/// After so many milliseconds of silence a program counts as hung, even on a slow machine.
constexpr int patience = 60'000;

std::string contents(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_big_endian(std::ofstream& file, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    file.put(static_cast<char>(value >> shift));
}

/// Writes images whose class is a fixed function of their number. Class c is a bright band of 78 pixels from pixel 78 c
/// on.
void write_images(const std::string& directory, const std::string& name, uint32_t count) {
  std::ofstream images{directory + "/" + name + "-images-idx3-ubyte", std::ios::binary};
  std::ofstream labels{directory + "/" + name + "-labels-idx1-ubyte", std::ios::binary};
  for (const uint32_t word : {0x803u, count, 28u, 28u})
    write_big_endian(images, word);
  for (const uint32_t word : {0x801u, count})
    write_big_endian(labels, word);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t label = i * 7 % 10;
    labels.put(static_cast<char>(label));
    for (uint32_t pixel = 0; pixel < 784; ++pixel)
      images.put(static_cast<char>(pixel / 78 == label ? 200 : (i * 31 + pixel * 17) % 40));
  }
}

/// Keeps sanitizers from printing matched suppressions into output that tests read. Findings are still reported.
void quieten_sanitizers() {
  for (const char* name : {"TSAN_OPTIONS", "LSAN_OPTIONS"})
    if (const char* options = std::getenv(name);
        options && !std::string_view{options}.ends_with(":print_suppressions=0"))
      setenv(name, (std::string{options} + ":print_suppressions=0").c_str(), 1);
}

}  // namespace

std::vector<nlohmann::json> outcome::events() const {
  std::vector<nlohmann::json> found;
  std::istringstream lines{out};
  for (std::string line; std::getline(lines, line);)
    found.push_back(nlohmann::json::parse(line));
  return found;
}

program::program(std::vector<std::string> arguments, output standard_output) {
  arguments.insert(arguments.begin(), TROUPE_PROGRAM);
  start(std::move(arguments), standard_output);
}

program::program(const std::string& setup, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"/bin/sh", "-c", setup + "\nexec \"$0\" \"$@\"", TROUPE_PROGRAM});
  start(std::move(arguments), output::read);
}

void program::start(std::vector<std::string> command, output standard_output) {
  quieten_sanitizers();
  std::vector<char*> argv;
  for (auto& word : command)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error{"no pipe"};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (standard_output == output::closed)
    posix_spawn_file_actions_addclose(&actions, 1);
  else
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  // The child keeps this pipe open until it ends, even if its standard output is closed.
  int alive[2];
  if (pipe2(alive, O_CLOEXEC) != 0)
    throw std::runtime_error{"no pipe"};
  alive_ = alive[0];
  posix_spawn_file_actions_adddup2(&actions, alive[1], 9);
  posix_spawn_file_actions_addopen(&actions, 2, (directory_ / "stderr").c_str(), O_CREAT | O_WRONLY, 0600);
  // The parent of the tests (nohup, or a shell in the background) may ignore signals, which children would inherit.
  sigset_t heeded;
  sigemptyset(&heeded);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM})
    sigaddset(&heeded, signal);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &heeded);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int failed = posix_spawn(&child_, command.front().c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  close(alive[1]);
  out_ = ends[0];
  if (failed != 0)
    throw std::runtime_error{"cannot start " + command.front()};
}

program::~program() {
  if (child_ > 0) {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  stop_reading();
  close(alive_);
}

bool program::read_some() {
  pollfd ready{out_, POLLIN, 0};
  if (out_ >= 0 && poll(&ready, 1, patience) == 0)
    return false;
  char buffer[4096];
  const ssize_t count = out_ < 0 ? 0 : read(out_, buffer, sizeof buffer);
  if (count > 0)
    text_.append(buffer, static_cast<size_t>(count));
  return count > 0;
}

bool program::wait_for(const std::string& text) {
  while (text_.find(text) == std::string::npos)
    if (!read_some())
      return false;
  return true;
}

void program::send(int signal) {
  kill(child_, signal);
  const auto pending = [&] {
    std::ifstream in{"/proc/" + std::to_string(child_) + "/status"};
    for (std::string line; std::getline(in, line);)
      if (line.starts_with("ShdPnd:"))
        return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
    return false;
  };
  for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{2};
       pending() && std::chrono::steady_clock::now() < until;)
    std::this_thread::yield();
}

void program::stop_reading() {
  if (out_ >= 0)
    close(std::exchange(out_, -1));
}

outcome program::finish() {
  while (read_some()) {}
  pollfd ended{alive_, POLLIN, 0};
  if (poll(&ended, 1, patience) == 0) {
    kill(child_, SIGKILL);
    waitpid(std::exchange(child_, -1), nullptr, 0);
    return {outcome::hung, text_, contents(directory_ / "stderr")};
  }
  int status = 0;
  waitpid(std::exchange(child_, -1), &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_, contents(directory_ / "stderr")};
}

outcome run_program(std::vector<std::string> arguments) { return program{std::move(arguments)}.finish(); }
outcome run_program(const std::string& setup, std::vector<std::string> arguments) {
  return program{setup, std::move(arguments)}.finish();
}

small_project::small_project(uint32_t test_images) {
  const std::string data = path("data");
  std::filesystem::create_directory(data);
  write_images(data, "train", 256);
  write_images(data, "t10k", test_images);
  std::ofstream{config()} << "[model]\nhidden_units = [16]\nclasses = 10\n[input]\ndata = \"" << data
                          << "\"\nbatch_size = 32\n"
                          << "[run]\nmodel_dir = \"" << path("model") << "\"\nseed = 3\nsave_checkpoints_steps = 8\n"
                          << "log_step_count_steps = 4\n[evaluate]\nbatch_size = 32\nthrottle_secs = 0\n";
}

std::vector<std::string> small_project::command(std::string name, std::vector<std::string> more) const {
  std::vector<std::string> all{std::move(name), "--config", config()};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::string small_project::parameters(const std::string& model_dir, int64_t step) const {
  return contents(path(model_dir) + "/model.ckpt-" + std::to_string(step) + "-00000-of-00001.safetensors");
}

}  // namespace troupe::cli
