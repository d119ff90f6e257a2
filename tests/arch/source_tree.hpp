// The source tree as the rules see it: every C++ file, line by line, code and comments apart.
#pragma once

#include <string>
#include <vector>

namespace troupe::arch {

struct source_line {
  int number = 0;    ///< From 1.
  std::string text;  ///< As in the file.
  std::string code;  ///< Without comments.
  std::string bare;  ///< Without comments and the contents of string and character literals.

  /// Characters of UTF-8, each of which takes one column.
  int columns() const;
  /// The text with spaces in place of code.
  std::string comment() const;
};

struct source_file {
  std::string path;  ///< Relative to the root: "actors/steps/infeed.cpp".
  std::vector<source_line> lines;

  std::string folder() const { return path.substr(0, path.find('/')); }
  bool under(const std::string& directory) const { return path.starts_with(directory + "/"); }
};

struct include_line {
  int number = 0;
  std::string target;   ///< "actors/steps/infeed.hpp"
  bool quoted = false;  ///< With "" and not <>.
};

/// One line that breaks a rule.
struct violation {
  std::string path;
  int line = 0;
  std::string text;
};

source_file parse(std::string path, const std::string& text);
std::vector<include_line> includes(const source_file& file);
/// Every .cpp and .hpp below `root`, sorted by path; hidden and build directories are left out.
std::vector<source_file> read_tree(const std::string& root);

}  // namespace troupe::arch
