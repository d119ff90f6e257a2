#include "inspection/tables.hpp"

#include <algorithm>
#include <cstdio>

namespace troupe {

namespace {

/// Columns on a terminal, one for each code point: UTF-8 continuation bytes do not count.
size_t width_of(std::string_view text) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins));
}

}  // namespace

std::string counted(int64_t count, const std::string& one) { return counted(count, one, one + "s"); }

std::string counted(int64_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view indent,
                  const std::vector<size_t>& right) {
  std::vector<size_t> widths;
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line{indent};
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - width_of(row[i]), ' ');
      const bool to_the_right = std::find(right.begin(), right.end(), i) != right.end();
      line += (i > 0 ? "  " : "") + (to_the_right ? gap + row[i] : row[i] + gap);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string bytes_text(int64_t bytes) {
  if (bytes < 10'000)
    return std::to_string(bytes) + " bytes";
  double amount = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* next : {"kB", "MB", "GB", "TB"})
    if (amount >= 1000) {
      amount /= 1000;
      unit = next;
    }
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", amount, unit);
  return text;
}

std::string shape_text(const std::vector<int64_t>& extents) { return "[" + joined(extents) + "]"; }

std::string number_text(double value) { return shortest_text(static_cast<float>(value)); }

std::string damages_text(const std::vector<damage>& damages, std::string_view indent) {
  std::string text;
  for (const auto& d : damages)
    text += std::string{indent} + (d.unreadable ? "not readable: " : "damaged: ") + printable(d.file)
            + (d.tensor.empty() ? "" : ", tensor " + printable(d.tensor))
            + (d.offset ? ", offset " + std::to_string(*d.offset) : "") + ": " + printable(d.reason) + "\n";
  return text;
}

std::string state_text(const std::vector<damage>& damages) {
  const bool damaged = std::any_of(damages.begin(), damages.end(), [](const damage& d) { return !d.unreadable; });
  return damaged ? "damaged" : damages.empty() ? "" : "not readable";
}

}  // namespace troupe
