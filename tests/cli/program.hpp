// The built program as a child process, and data small enough to train on in a moment.
#pragma once

#include "tests/support/temporary_directory.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include <sys/types.h>

namespace troupe::cli {

using test::temporary_directory;

struct outcome {
  static constexpr int hung = -2;
  int status = -1;  ///< Exit status; -1: killed by a signal; `hung`: silent for a minute.
  std::string out;
  std::string err;

  /// Standard output, each line parsed: nlohmann throws where one is not JSON.
  std::vector<nlohmann::json> events() const;
};

/// `troupe ARGUMENTS...`, running. Ends with this object.
class program {
 public:
  enum class output { read, closed };
  explicit program(std::vector<std::string> arguments, output standard_output = output::read);
  /// Started by a shell after `setup`: limits (`ulimit -f 8`), other descriptors (`exec >/dev/full`), variables.
  program(const std::string& setup, std::vector<std::string> arguments);
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  /// Reads standard output until the text appears; false at its end.
  bool wait_for(const std::string& text);
  /// What has been read of it so far.
  const std::string& printed() const { return text_; }
  /// Returns once the program has taken the signal, or does not for 2 s, as when it is stopped.
  void send(int signal);
  pid_t id() const { return child_; }
  /// Closes standard output: later printing fails.
  void stop_reading();
  /// Reads the rest and waits for the end.
  outcome finish();

 private:
  void start(std::vector<std::string> command, output standard_output);
  bool read_some();

  temporary_directory directory_;
  pid_t child_ = -1;
  int out_ = -1;
  int alive_ = -1;  ///< Reaches its end when the child ends.
  std::string text_;
};

outcome run_program(std::vector<std::string> arguments);
outcome run_program(const std::string& setup, std::vector<std::string> arguments);

/// Data, a configuration on it and a model directory: 256 images to train on, 64 to test unless said, ten classes, 8 steps an
/// epoch.
class small_project {
 public:
  explicit small_project(uint32_t test_images = 64);
  std::string path(const std::string& name) const { return directory_ / name; }
  std::string config() const { return path("small.toml"); }
  /// The arguments `train --config ... MORE...`.
  std::vector<std::string> train(std::vector<std::string> more = {}) const { return command("train", std::move(more)); }
  std::vector<std::string> evaluate(std::vector<std::string> more = {}) const { return command("evaluate", std::move(more)); }
  /// The bytes of the parameters saved at `step`.
  std::string parameters(const std::string& model_dir, int64_t step) const;

  std::vector<std::string> command(std::string name, std::vector<std::string> more) const;

 private:
  temporary_directory directory_;
};

}  // namespace troupe::cli
