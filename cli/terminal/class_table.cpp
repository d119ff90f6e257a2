#include "cli/terminal/class_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace troupe::cli {

namespace {

constexpr std::string_view matrix_name = "confusion_matrix", words_name = "classes";
constexpr size_t shown_classes_max = 20, lowest_max = 3;

/// "kind/" of "kind/classes"; absent where the part after the slash is another than `last`.
std::optional<std::string> prefix_of(std::string_view name, std::string_view last) {
  if (!name.ends_with(last))
    return {};
  name.remove_suffix(last.size());
  return name.empty() || name.ends_with('/') ? std::optional{std::string{name}} : std::nullopt;
}

struct class_table {
  std::string prefix;
  size_t classes = 0;
  std::span<const double> cells;
  std::vector<std::string> words;  ///< One for each class, or none.

  std::string name(size_t i) const { return words.empty() ? std::to_string(i) : words[i]; }
  /// TP / (TP + FN).
  std::optional<double> recall(size_t i) const {
    double all = 0;
    for (size_t j = 0; j < classes; ++j)
      all += cells[i * classes + j];
    return all > 0 ? std::optional{cells[i * classes + i] / all} : std::nullopt;
  }
};

std::optional<class_table> class_table_of(const std::string& name, const tensor& array, const table_style& style) {
  const auto prefix = prefix_of(name, matrix_name);
  if (!prefix || array.dims().rank() != 2 || array.dims()[0] != array.dims()[1])
    return {};
  class_table t{*prefix, static_cast<size_t>(array.dims()[0]), array.as<double>(), {}};
  if (const auto known = style.classes.find(name); known != style.classes.end() && known->second.size() == t.classes)
    t.words = known->second;
  return t;
}

std::string count_text(double x) { return std::abs(x) < 1e9 && x == std::floor(x) ? fmt::format("{:.0f}", x) : fmt::format("{:.4g}", x); }

/// Characters, not bytes: words are UTF-8.
size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

using table_row = std::vector<std::string>;

/// The first column is aligned to the left, the others to the right.
std::string aligned(const std::vector<table_row>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (size_t j = 0; j < row.size(); ++j)
      widths[j] = std::max(widths[j], width_of(row[j]));
  std::string text;
  for (const auto& row : rows) {
    for (size_t j = 0; j < row.size(); ++j) {
      const std::string space(widths[j] - width_of(row[j]), ' ');
      text += "  " + (j == 0 ? row[j] + space : space + row[j]);
    }
    text += "\n";
  }
  return text;
}

/// The table; `numbered` columns stand under the numbers of their classes, which the rows have before their names.
std::string table_text(const class_table& t, bool numbered) {
  std::vector<table_row> rows(t.classes + 1);
  rows[0].emplace_back();
  for (size_t i = 0; i < t.classes; ++i) {
    rows[0].push_back(numbered ? std::to_string(i) : t.name(i));
    auto& row = rows[i + 1];
    row.push_back(numbered && !t.words.empty() ? fmt::format("{} {}", i, t.name(i)) : t.name(i));
    for (size_t j = 0; j < t.classes; ++j)
      row.push_back(count_text(t.cells[i * t.classes + j]));
    const auto recall = t.recall(i);
    row.push_back(recall ? fmt::format("{:.3f}", *recall) : "-");
  }
  rows[0].emplace_back("recall");
  return aligned(rows);
}

std::string table_text(const class_table& t, const table_style& style) {
  auto text = table_text(t, false);
  if (width_of(std::string_view{text}.substr(0, text.find('\n'))) > style.width)
    text = table_text(t, true);
  return text;
}

}  // namespace

std::map<std::string, std::vector<std::string>> class_names_of(const model& m) {
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& [name, text] : m.texts)
    if (const auto prefix = prefix_of(name, words_name))
      names[*prefix + std::string{matrix_name}] = text.words;
  return names;
}

std::string tables_text(const std::map<std::string, tensor>& arrays, const table_style& style) {
  std::string text;
  for (const auto& [name, array] : arrays) {
    const auto table = class_table_of(name, array, style);
    text += table && table->classes <= shown_classes_max ? name + ": labels in rows, predictions in columns\n" + table_text(*table, style)
                                                         : arrays_text({{name, array}});
  }
  return text;
}

std::string recall_text(const std::map<std::string, tensor>& arrays, const table_style& style) {
  std::string text;
  for (const auto& [name, array] : arrays) {
    const auto table = class_table_of(name, array, style);
    if (!table)
      continue;
    std::vector<std::pair<double, size_t>> lowest;
    for (size_t i = 0; i < table->classes; ++i)
      if (const auto recall = table->recall(i))
        lowest.emplace_back(*recall, i);
    std::sort(lowest.begin(), lowest.end());
    lowest.resize(std::min(lowest.size(), lowest_max));
    for (size_t k = 0; k < lowest.size(); ++k)
      text += fmt::format("{} {} {:.4g}", k == 0 ? fmt::format("; lowest {}recall", table->prefix) : ",", table->name(lowest[k].second), lowest[k].first);
  }
  return text;
}

}  // namespace troupe::cli
