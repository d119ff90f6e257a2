// A line for whoever the program names, or else for standard error. What the program's function throws is dropped: a
// line is told where nobody could take an exception.
#pragma once

#include <functional>
#include <iostream>
#include <string>

namespace troupe {

inline void tell_line(const std::function<void(const std::string& line)>& log, const std::string& line) {
  try {
    log ? log(line) : static_cast<void>(std::cerr << line << std::endl);
  } catch (...) {}
}

}  // namespace troupe
