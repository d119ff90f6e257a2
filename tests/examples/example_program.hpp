// A command as a child process: the test writes lines to it, reads its output line by line, and waits for its end.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace troupe::test {

/// Standard error goes to standard output. The destructor ends the process.
class example_program {
 public:
  /// Adds `more` to the environment.
  explicit example_program(std::vector<std::string> command, const std::map<std::string, std::string>& more = {});
  ~example_program();
  example_program(const example_program&) = delete;
  example_program& operator=(const example_program&) = delete;

  void tell(const std::string& line);
  /// The next line of output without its newline; empty at the end of the output.
  std::string hear();
  /// Closes standard input, reads the rest, and waits. Returns the exit status, or minus the signal that ended the
  /// process.
  int finish();
  const std::string& text() const { return text_; }

 private:
  bool read_some();

  pid_t child_ = -1;
  int to_ = -1, from_ = -1;
  std::string text_;  ///< All output so far.
  size_t heard_ = 0;  ///< How many bytes `hear` has returned.
};

}  // namespace troupe::test
