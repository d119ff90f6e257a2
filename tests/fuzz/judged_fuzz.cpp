#include "storage/checkpoints/judged.hpp"
#include "storage/encodings/sealed_text.hpp"
#include "tests/fuzz/target.hpp"

#include <cmath>

namespace troupe::fuzz {

std::vector<std::string> seeds() {
  const judged all[] = {{},
                        {.best = judged::best_so_far{{{390, 1}, 7}, 0.25}},
                        {.best = judged::best_so_far{{{390}, 7}, -INFINITY}},
                        {.ends = judged::end_by_rule{{{780}, 0xffffffffu}, "loss lower than 0.3", "loss was 0.25"}}};
  std::vector<std::string> texts;
  for (const auto& j : all)
    texts.push_back(judged_text(j));
  texts.push_back(seal("{\"format\": " + nested("[", "", "]") + ",\n \"crc32c\": \"00000000\"\n}\n"));
  return texts;
}

void run(std::string_view input) {
  std::string text{input};
  constexpr std::string_view ending = "\"crc32c\": \"00000000\"\n}\n";
  if (text.size() >= ending.size())
    // Makes the checksum right, which no mutation would ever hit.
    text = seal(text.replace(text.size() - ending.size(), ending.size(), ending));
  const auto read = parse_judged(text, "f");
  if (!read)
    return require(!read.error().message.empty(), "an error says something");
  require(!read->best || (!std::isnan(read->best->value) && read->best->at.id.step >= 0), "a best one is one");
  const auto again = parse_judged(judged_text(*read), "f");
  require(again.has_value() && *again == *read, "what was read is written and read again");
}

}  // namespace troupe::fuzz
