// A trainer (trainer.cpp) as a child process: the test starts it, reads its lines, and kills it.
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

  /// Reads the child's output, waiting at most `patience` for it. False: its output has ended.
  bool listen(std::chrono::milliseconds patience) { return child_.listen(patience); }
  /// Sends SIGKILL; returns after the process has ended and its output has been read.
  void kill();
  /// Waits for the child's end; returns the exit status, or minus the signal.
  int wait() { return child_.wait(); }

  // -- its output -----------------------------------------------------------
  int64_t lines = 0;               ///< Number of its lines.
  std::optional<int64_t> started;  ///< The step at which it resumed.
  int64_t reached = 0;             ///< The newest step it reported, `started` included.
  int64_t saved = -1;              ///< The newest commit it reported.
  std::optional<int64_t> gate;     ///< The step at whose gate it is held.
  std::optional<int64_t> done;
  std::map<std::string, std::string> metrics;  ///< Hexadecimal, so that equal text is equal bits.
  std::string error;

 private:
  void hear(const std::string& line);

  child_process child_;  ///< Its standard input is held open, since its end would open the gate.
};

}  // namespace troupe
