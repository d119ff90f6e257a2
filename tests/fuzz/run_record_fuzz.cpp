#include "storage/encodings/sealed_text.hpp"
#include "storage/runs/run_record.hpp"
#include "tests/fuzz/target.hpp"

namespace troupe::fuzz {

std::vector<std::string> seeds() {
  const run_record records[] = {{},
                                {.wall_time = 1.7e9,
                                 .command = {"troupe", "train"},
                                 .directory = "/home/me",
                                 .versions = {{"troupe", "0.1.0"}},
                                 .settings = {{"optimizer.rate", "1e-3"}},
                                 .resolved = {{"optimizer.rate", "0.001"}}}};
  std::vector<std::string> all;
  for (const auto& r : records)
    all.push_back(run_record_text(r));
  all.push_back(seal("{\"format\": " + nested("[", "", "]") + ",\n \"crc32c\": \"00000000\"\n}\n"));
  return all;
}

void run(std::string_view input) {
  std::string text{input};
  constexpr std::string_view ending = "\"crc32c\": \"00000000\"\n}\n";
  if (text.size() >= ending.size())
    // Makes the checksum right, which no mutation would ever hit.
    text = seal(text.replace(text.size() - ending.size(), ending.size(), ending));
  const auto read = parse_run_record(text, "f");
  if (!read)
    return require(!read.error().message.empty(), "an error says something");
  const auto again = parse_run_record(run_record_text(*read), "f");
  require(again.has_value() && run_record_text(*again) == run_record_text(*read),
          "what was read is written and read again");
}

}  // namespace troupe::fuzz
