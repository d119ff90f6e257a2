#include "cli/configuration/config_file.hpp"

#include "tests/fuzz/target.hpp"

#include <sstream>

namespace troupe::fuzz {

std::vector<std::string> seeds() {
  return {"[model]\nhidden_units = [64, 32]\nactivation = \"relu\"  # a comment\n[[model.layers]]\ntype = 'dense'\nunits = 10\n[run]\nmax_steps = 1_000\n",
          "a.b.\"c d\" = { x = 1.5, y = [[1, 2], [3]], z = { w = true } }\nd = 1979-05-27T07:32:00.999Z\ns = \"\"\"\nlong [[[\n\"\"\"\n",
          nested("a.", "a = 1", ""), "[" + nested("a.", "a", "") + "]", "a = " + nested("[", "", "]"), "a = " + nested("{a.b = ", "1", "}")};
}

void run(std::string_view input) {
  std::istringstream text{std::string{input}};
  const auto read = cli::parse_config(text, "f");
  if (!read)
    return require(!read.error().message.empty(), "an error says what is wrong");
  for (const auto& a : *read)
    require(a.origin.starts_with("f:"), "every key has the line it stands in");
}

}  // namespace troupe::fuzz
