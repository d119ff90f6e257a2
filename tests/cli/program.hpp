// The built program as a child process, and a project with data small enough to train on in a moment.
#pragma once

#include "tests/support/temporary_directory.hpp"

#include <nlohmann/json.hpp>

#include <sys/types.h>

#include <string>
#include <vector>

namespace troupe::cli {

using test::temporary_directory;

struct outcome {
  static constexpr int hung = -2;
  int status = -1;  ///< Exit status; -1: killed by a signal; `hung`: silent for a minute.
  std::string out;
  std::string err;

  /// Each line of standard output as JSON. Throws an exception of nlohmann at a line that is no JSON.
  std::vector<nlohmann::json> events() const;
};

/// A running process `troupe ARGUMENTS...`, which ends with this object.
class program {
 public:
  enum class output { read, closed };
  explicit program(std::vector<std::string> arguments, output standard_output = output::read);
  /// Runs the program in a shell after the commands `setup`: limits (`ulimit -f 8`), other descriptors (`exec
  /// >/dev/full`), variables.
  program(const std::string& setup, std::vector<std::string> arguments);
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  /// Reads standard output until `text` appears. False: it ended before.
  bool wait_for(const std::string& text);
  /// The standard output that was read so far.
  const std::string& printed() const { return text_; }
  /// Sends the signal and returns once the program has taken it, or after 2 s if it does not, as when it is stopped.
  void send(int signal);
  pid_t id() const { return child_; }
  /// Closes standard output, so that later printing fails.
  void stop_reading();
  /// Reads the rest of the output, and waits for the end of the program.
  outcome finish();

 private:
  void start(std::vector<std::string> command, output standard_output);
  bool read_some();

  temporary_directory directory_;
  pid_t child_ = -1;
  int out_ = -1;
  int alive_ = -1;  ///< A pipe that ends when the child ends.
  std::string text_;
};

outcome run_program(std::vector<std::string> arguments);
outcome run_program(const std::string& setup, std::vector<std::string> arguments);

/// Data, a configuration for them and a model directory: 256 images for training, 64 for tests by default, ten classes,
/// 8 steps an epoch.
class small_project {
 public:
  explicit small_project(uint32_t test_images = 64);
  std::string path(const std::string& name) const { return directory_ / name; }
  std::string config() const { return path("small.toml"); }
  /// The arguments `train --config FILE MORE...`.
  std::vector<std::string> train(std::vector<std::string> more = {}) const { return command("train", std::move(more)); }
  std::vector<std::string> evaluate(std::vector<std::string> more = {}) const {
    return command("evaluate", std::move(more));
  }
  /// The bytes of the parameter file of `step`.
  std::string parameters(const std::string& model_dir, int64_t step) const;

  std::vector<std::string> command(std::string name, std::vector<std::string> more) const;

 private:
  temporary_directory directory_;
};

}  // namespace troupe::cli
