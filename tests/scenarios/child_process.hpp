// A program as a child process: the test starts it, writes to it, reads its lines, and sends signals to it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace troupe {

/// Used by one thread. The destructor kills a child that still runs.
class child_process {
 public:
  /// `listen` and `wait` call `hear` with each line that the child prints.
  child_process(std::string program, const std::vector<std::string>& arguments,
                std::function<void(const std::string&)> hear);
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  ~child_process();

  /// Waits at most `patience` for output of the child, and reads it. False: the output has ended.
  bool listen(std::chrono::milliseconds patience);
  void say(const std::string& line);
  void send(int signal);
  /// Waits for the end of the child. Returns the exit status, or minus the signal that ended it.
  int wait();
  pid_t id() const { return process_; }

 private:
  std::function<void(const std::string&)> hear_;
  pid_t process_ = -1;
  int output_ = -1;  ///< The read end of the child's output.
  int input_ = -1;   ///< The child's input; open as long as this object exists.
  std::string partial_;
};

}  // namespace troupe
