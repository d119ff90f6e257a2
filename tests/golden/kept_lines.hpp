// Text that is kept in a file of tests/golden and compared line by line.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace troupe::test {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

inline std::vector<std::string> kept_lines(const std::string& file) {
  std::ifstream in{std::string{TROUPE_GOLDEN_DIR "/"} + file};
  return lines_of({std::istreambuf_iterator<char>{in}, {}});
}

/// Each line of `text` must be in the file. A line that differs is shown beside the kept one of the same case and
/// quantity, which are the line without its last word.
inline void compare_to_kept(const std::string& text, const std::vector<std::string>& kept) {
  REQUIRE_FALSE(kept.empty());
  for (const auto& line : lines_of(text)) {
    const std::string what = line.substr(0, line.rfind(' ') + 1);
    const auto at = std::find_if(kept.begin(), kept.end(), [&](const auto& k) { return k.starts_with(what); });
    if (at == kept.end())
      FAIL_CHECK("the golden file has nothing of: " << line);
    else
      CHECK(line == *at);
  }
}

/// The text must be that of the file. With TROUPE_RENEW_GOLDEN=FILE the file is made anew, and the case fails: what has
/// written compared nothing.
inline void check_kept(const std::string& text, const std::string& file) {
  if (const char* renewed = std::getenv("TROUPE_RENEW_GOLDEN"); renewed && renewed == file) {
    std::ofstream out{TROUPE_GOLDEN_DIR "/" + file};
    out << text;
    REQUIRE(out.flush());
    FAIL(file << " is made anew; git diff shows what has changed");
  }
  const auto kept = kept_lines(file);
  compare_to_kept(text, kept);
  CHECK(lines_of(text).size() == kept.size());
}

}  // namespace troupe::test
