// A line for whoever the program names, or else for standard error.
#pragma once

#include <functional>
#include <iostream>
#include <string>

namespace troupe {

inline void tell_line(const std::function<void(const std::string& line)>& log, const std::string& line) {
  if (log)
    log(line);
  else
    std::cerr << line << std::endl;
}

}  // namespace troupe
