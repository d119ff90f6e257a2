#include "tests/arch/source_tree.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

namespace troupe::arch {

namespace {

/// Replaces comments of both forms by spaces; in `bare` also the text between quotes. Line numbers stay the same.
class stripper {
 public:
  explicit stripper(const std::string& text) : text_(text) {}

  void run() {
    while (i_ < text_.size()) {
      if (text_.compare(i_, 2, "//") == 0)
        comment_until("\n", 0);
      else if (text_.compare(i_, 2, "/*") == 0)
        comment_until("*/", 2);
      else if (text_.compare(i_, 2, "R\"") == 0 && !after_word())
        raw_literal();
      else if (text_[i_] == '"' || (text_[i_] == '\'' && !after_word()))  // 1'000 is a number.
        literal(text_[i_]);
      else
        keep();
    }
  }

  std::string code, bare;

 private:
  bool after_word() const {
    return i_ > 0 && (std::isalnum(static_cast<unsigned char>(text_[i_ - 1])) || text_[i_ - 1] == '_');
  }

  void put(char in_code, char in_bare) {
    const bool newline = text_[i_] == '\n';
    code += newline ? '\n' : in_code;
    bare += newline ? '\n' : in_bare;
    ++i_;
  }
  void keep() { put(text_[i_], text_[i_]); }

  void comment_until(const char* end, size_t length) {
    const size_t stop = std::min(text_.find(end, i_ + length), text_.size() - length);
    while (i_ < stop + length)
      put(' ', ' ');
  }
  void literal(char quote) {
    keep();
    while (i_ < text_.size() && text_[i_] != quote && text_[i_] != '\n') {
      if (text_[i_] == '\\' && i_ + 1 < text_.size())
        put(text_[i_], ' ');
      put(text_[i_], ' ');
    }
    if (i_ < text_.size())
      keep();
  }
  void raw_literal() {
    const size_t open = text_.find('(', i_);
    const std::string end = ")" + text_.substr(i_ + 2, open - i_ - 2) + "\"";
    const size_t stop = std::min(text_.find(end, i_), text_.size() - end.size()) + end.size();
    while (i_ < stop)
      put(text_[i_], ' ');
  }

  const std::string& text_;
  size_t i_ = 0;
};

}  // namespace

int source_line::columns() const {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string source_line::comment() const {
  std::string only = text;
  for (size_t i = 0; i < only.size(); ++i)
    if (i < code.size() && code[i] != ' ')
      only[i] = ' ';
  return only;
}

source_file parse(std::string path, const std::string& text) {
  stripper stripped{text};
  stripped.run();
  source_file file{std::move(path), {}};
  std::istringstream whole{text}, code{stripped.code}, bare{stripped.bare};
  source_line line;
  while (std::getline(whole, line.text) && std::getline(code, line.code) && std::getline(bare, line.bare)) {
    ++line.number;
    file.lines.push_back(line);
  }
  return file;
}

std::vector<include_line> includes(const source_file& file) {
  static const std::regex pattern{R"(^\s*#\s*include\s*(["<])([^">]+)[">])"};
  std::vector<include_line> found;
  std::smatch match;
  for (const auto& line : file.lines)
    if (line.code.find('#') != std::string::npos && std::regex_search(line.code, match, pattern))
      found.push_back({line.number, match[2], match[1] == "\""});
  return found;
}

std::vector<source_file> read_tree(const std::string& root) {
  namespace fs = std::filesystem;
  static const std::set<std::string> not_ours{"build", "runs", "subprojects"};
  std::vector<source_file> files;
  for (fs::recursive_directory_iterator i{root}, end; i != end; ++i) {
    const std::string name = i->path().filename().string();
    if (i->is_directory() && (name.starts_with(".") || (i.depth() == 0 && not_ours.contains(name))))
      i.disable_recursion_pending();
    if (!i->is_regular_file() || (i->path().extension() != ".cpp" && i->path().extension() != ".hpp"))
      continue;
    std::ifstream in{i->path()};
    files.push_back(parse(fs::relative(i->path(), root).generic_string(), {std::istreambuf_iterator<char>{in}, {}}));
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

}  // namespace troupe::arch
