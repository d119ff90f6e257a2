// A program as a child process: started, spoken to, listened to line by line, signalled.
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
  /// `hear` is called by `listen` and `wait`, with each line that the child says.
  child_process(std::string program, const std::vector<std::string>& arguments, std::function<void(const std::string&)> hear);
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  ~child_process();

  /// Takes in what the child has said, waiting at most `patience` for some of it. False: it said its last.
  bool listen(std::chrono::milliseconds patience);
  void say(const std::string& line);
  void send(int signal);
  /// Waits for its end; the exit status, or minus the signal.
  int wait();
  pid_t id() const { return process_; }

 private:
  std::function<void(const std::string&)> hear_;
  pid_t process_ = -1;
  int output_ = -1;  ///< We read what it says.
  int input_ = -1;   ///< Held open until the end of this object.
  std::string partial_;
};

}  // namespace troupe
