#include "tests/scenarios/trainer_process.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

namespace troupe {

trainer_process::trainer_process(const std::vector<std::string>& arguments)
  : child_(TROUPE_TRAINER, arguments, [this](const std::string& line) { hear(line); }) {}

void trainer_process::kill() {
  child_.send(SIGKILL);
  const int status = wait();
  CHECK_MESSAGE(status == -SIGKILL, "the trainer had ended before it was killed: " << status << " " << error);
}

void trainer_process::hear(const std::string& line) {
  ++lines;
  const size_t space = line.find(' ');
  const std::string what = line.substr(0, space), rest = space == std::string::npos ? "" : line.substr(space + 1);
  const int64_t step = std::atoll(rest.c_str());
  if (what == "started") {
    started = reached = step;
  } else if (what == "step") {
    reached = std::max(reached, step);
  } else if (what == "saved") {
    saved = std::max(saved, step);
  } else if (what == "gate") {
    gate = step;
    reached = std::max(reached, step);
  } else if (what == "done") {
    done = step;
  } else if (what == "metric") {
    metrics[rest.substr(0, rest.find(' '))] = rest.substr(rest.find(' ') + 1);
  } else if (what == "error") {
    error = rest;
  } else {
    FAIL_CHECK("the trainer said '" << line << "'");
  }
}

}  // namespace troupe
