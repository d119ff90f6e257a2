// The source tree for the rules: every C++ file, line by line, with code and comments apart.
#pragma once

#include <string>
#include <vector>

namespace troupe::arch {

struct source_line {
  int number = 0;    ///< The first line is 1.
  std::string text;  ///< The line as it is in the file.
  std::string code;  ///< The line without comments.
  std::string bare;  ///< The line without comments and without the contents of literals.

  /// The width of the line: each UTF-8 character takes one column.
  int columns() const;
  /// The line with spaces in place of code.
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
  std::string target;   ///< Such as "actors/steps/infeed.hpp".
  bool quoted = false;  ///< True for "", false for <>.
};

/// A line that breaks a rule.
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
