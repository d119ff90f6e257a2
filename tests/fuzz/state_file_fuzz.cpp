#include "storage/state_file.hpp"
#include "tests/fuzz/target.hpp"

#include <algorithm>

namespace troupe::fuzz {

std::vector<std::string> seeds() {
  return {write_state_file({1, 20, 300}),
          "model_checkpoint_path: \"/elsewhere/model.ckpt-5\"  # by hand\nall_model_checkpoint_timestamps: 1.5\nunknown { a: 1 }\n"};
}

void run(std::string_view input) {
  const auto state = parse_state_file(std::string{input}, "f");
  if (!state)
    return;
  const auto& steps = state->steps;
  require(std::count(steps.begin(), steps.end(), state->newest) == 1, "the newest is listed, once");
  require(need(parse_state_file(write_state_file(steps), "f")).steps == steps, "a state file is read as it is written");
}

}  // namespace troupe::fuzz
