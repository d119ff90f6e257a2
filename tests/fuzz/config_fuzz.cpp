#include "cli/configuration/config_file.hpp"
#include "cli/configuration/keys.hpp"
#include "tests/fuzz/target.hpp"

#include <sstream>

namespace troupe::cli {

/// Replaces the program's table of keys, which would link all of Troupe. The parser only asks which tables and lists
/// exist.
const std::vector<key_info>& known_keys() {
  static const auto keys = [] {
    std::vector<key_info> all(4);
    all[0].name = "run.max_steps";
    all[1].name = "model.hidden_units";
    all[2].name = "model.layers[].type";
    all[3].name = "model.layers[].units";
    return all;
  }();
  return keys;
}

}  // namespace troupe::cli

namespace troupe::fuzz {

std::vector<std::string> seeds() {
  return {
      "[model]\nhidden_units = [64, 32]\nactivation = \"relu\"  # a comment\n[[model.layers]]\ntype = 'dense'\nunits = "
      "10\n[run]\nmax_steps = 1_000\n",
      "a.b.\"c d\" = { x = 1.5, y = [[1, 2], [3]], z = { w = true } }\nd = 1979-05-27T07:32:00.999Z\ns = \"\"\"\nlong "
      "[[[\n\"\"\"\n",
      nested("a.", "a = 1", ""),
      "[" + nested("a.", "a", "") + "]",
      "a = " + nested("[", "", "]"),
      "a = " + nested("{a.b = ", "1", "}")};
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
