// A trainer (trainer.cpp) as a child process: started, listened to, killed.
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

  /// Takes in what the child has said, waiting at most `patience` for some of it. False: it said its last.
  bool listen(std::chrono::milliseconds patience) { return child_.listen(patience); }
  /// SIGKILL; returns after the process is gone and its last words are in.
  void kill();
  /// Waits for its end; the exit status, or minus the signal.
  int wait() { return child_.wait(); }

  // -- what it said ---------------------------------------------------------
  int64_t lines = 0;               ///< How many it said.
  std::optional<int64_t> started;  ///< Where it resumed.
  int64_t reached = 0;             ///< The newest step it reported, `started` included.
  int64_t saved = -1;              ///< The newest commit it reported.
  std::optional<int64_t> gate;     ///< It stands there.
  std::optional<int64_t> done;
  std::map<std::string, std::string> metrics;  ///< Hexadecimal, so that equal text is equal bits.
  std::string error;

 private:
  void hear(const std::string& line);

  child_process child_;  ///< Its standard input is held open: the end of that would open the gate.
};

}  // namespace troupe
