// A trainer (trainer.cpp) as a child process: the test starts it, parses its lines, and kills it.
#pragma once

#include "tests/scenarios/child_process.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// Used by one thread. The destructor kills a child that still runs.
class trainer_process {
 public:
  explicit trainer_process(const std::vector<std::string>& arguments);

  /// Waits at most `patience` for output of the child, and reads it. False: the output has ended.
  bool listen(std::chrono::milliseconds patience) { return child_.listen(patience); }
  /// Sends SIGKILL. Returns after the process has ended and its output was read.
  void kill();
  /// Waits for the end of the child. Returns the exit status, or minus the signal that ended it.
  int wait() { return child_.wait(); }

  // -- its output -----------------------------------------------------------
  int64_t lines = 0;               ///< The number of lines so far.
  std::optional<int64_t> started;  ///< The step at which it resumed.
  int64_t reached = 0;             ///< The newest reported step, including `started`.
  int64_t saved = -1;              ///< The newest reported commit.
  std::optional<int64_t> gate;     ///< The step of the gate that holds it.
  std::optional<int64_t> done;
  std::map<std::string, std::string> metrics;  ///< In hexadecimal: equal texts are equal bits.
  std::string error;

 private:
  void hear(const std::string& line);

  child_process child_;  ///< Holds standard input open, whose end would open the gate.
};

}  // namespace troupe
