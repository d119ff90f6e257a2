#include "storage/checkpoints/state_file.hpp"
#include "tests/fuzz/target.hpp"

#include <algorithm>

namespace troupe::fuzz {

std::vector<std::string> seeds() {
  return {write_state_file({{1}, {20}, {300}, {300, 1}},
                           {.preserved = {{7}}, .doomed = {{{8, 2}, 1'758'000'000'250'000'000}}}),
          "model_checkpoint_path: \"model.ckpt-5\"\n" + nested("a{", "", "}"),
          "model_checkpoint_path: \"model.ckpt-5\"\na: " + nested("[", "", "]"),
          "model_checkpoint_path: \"/elsewhere/model.ckpt-5\"  # by hand\nall_model_checkpoint_timestamps: "
          "1.5\nunknown { a: 1 }\n"};
}

void run(std::string_view input) {
  const auto state = parse_state_file(std::string{input}, "f");
  if (!state)
    return;
  const auto& ids = state->ids;
  require(std::count(ids.begin(), ids.end(), state->newest) == 1, "the newest is listed, once");
  const auto again = need(parse_state_file(write_state_file(ids, state->retention), "f"));
  require(again.ids == ids && again.retention.preserved == state->retention.preserved
              && again.retention.doomed == state->retention.doomed,
          "a state file is read as it is written");
}

}  // namespace troupe::fuzz
