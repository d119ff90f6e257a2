#include "words/text.hpp"

#include <algorithm>
#include <ctime>

namespace troupe {

std::string quoted(std::string_view text) { return std::string{"'"}.append(text).append("'"); }

std::string printable(std::string_view text) {
  std::string result{text};
  std::replace_if(
      result.begin(), result.end(), [](char c) { return (c >= 0 && c < ' ') || c == 127; }, '?');
  return result;
}

std::string zero_padded(int64_t number, size_t digits) {
  std::string text = std::to_string(number);
  return text.insert(0, digits - std::min(digits, text.size()), '0');
}

std::string type_text(dtype type, const shape& dims) { return std::string{to_string(type)} + to_text(dims); }

std::string time_text(double wall_time) {
  if (!(wall_time > 0) || wall_time > 2e11)
    return "unknown";
  const auto seconds = static_cast<std::time_t>(wall_time);
  std::tm parts{};
  char text[64];
  if (!gmtime_r(&seconds, &parts) || std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
    return "unknown";
  return text;
}

std::string parent_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "." : slash == 0 ? "/" : std::string{path.substr(0, slash)};
}

std::string file_name_of(std::string_view path) {
  return std::string{path.substr(path.rfind('/') + 1)};  // Without a '/', npos + 1 is 0.
}

std::string wrong_in_file_name(std::string_view name) {
  if (name.find('/') != std::string_view::npos)
    return "has a slash";
  if (printable(name) != name)
    return "has a control character";
  if (name.size() > file_name_bytes_max)
    return "has " + std::to_string(name.size()) + " bytes, and " + std::to_string(file_name_bytes_max) + " at most fit";
  return "";
}

}  // namespace troupe
