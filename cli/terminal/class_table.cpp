#include "cli/terminal/class_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace troupe::cli {

namespace {

constexpr std::string_view matrix_name = "confusion_matrix", words_name = "classes";
constexpr size_t shown_classes_max = 20;
constexpr size_t lowest_in_line = 3;     // Classes shown in the line of an evaluation.
constexpr size_t lowest_in_place = 5;    // Classes shown in place of a table that does not fit.
constexpr size_t preferred_width = 120;  // The greatest width of a table without a window.

/// "kind/" for "kind/classes" and "classes"; absent if the last part of `name` is not `last`.
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
  std::vector<std::string> words;  ///< One for each class, or empty.

  std::string name(size_t i) const { return words.empty() ? std::to_string(i) : words[i]; }
  /// TP / (TP + FN); absent if no example has this label.
  std::optional<double> recall(size_t i) const {
    double all = 0;
    for (size_t j = 0; j < classes; ++j)
      all += cells[i * classes + j];
    return all > 0 ? std::optional{cells[i * classes + i] / all} : std::nullopt;
  }
};

std::optional<class_table> class_table_of(const std::string& name, const tensor& array, const text_style& style) {
  const auto prefix = prefix_of(name, matrix_name);
  if (!prefix || array.dims().rank() != 2 || array.dims()[0] != array.dims()[1])
    return {};
  class_table t{*prefix, static_cast<size_t>(array.dims()[0]), array.as<double>(), {}};
  if (const auto known = style.classes.find(name); known != style.classes.end() && known->second.size() == t.classes)
    t.words = known->second;
  return t;
}

std::string count_text(double x) {
  return std::abs(x) < 1e9 && x == std::floor(x) ? fmt::format("{:.0f}", x) : fmt::format("{:.4g}", x);
}

using table_row = std::vector<std::string>;

/// Aligns the first column to the left and the others to the right.
std::string aligned(const std::vector<table_row>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (size_t j = 0; j < row.size(); ++j)
      widths[j] = std::max(widths[j], columns_of(row[j]));
  std::string text;
  for (const auto& row : rows) {
    for (size_t j = 0; j < row.size(); ++j) {
      const std::string space(widths[j] - columns_of(row[j]), ' ');
      text += "  " + (j == 0 ? row[j] + space : space + row[j]);
    }
    text += "\n";
  }
  return text;
}

/// The table. With `numbered` the columns have numbers as titles, and each row has its number before its name.
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

/// With names if that fits, otherwise with numbers; nothing if neither fits or there are too many classes.
std::optional<std::string> table_text(const class_table& t, const text_style& style) {
  if (t.classes > shown_classes_max)
    return {};
  if (auto named = table_text(t, false); fits_in(named, style.window.value_or(preferred_width)))
    return named;
  auto numbered = table_text(t, true);
  return !style.window || fits_in(numbered, *style.window) ? std::optional{std::move(numbered)} : std::nullopt;
}

/// "Shirt 0.58", ...: the at most `most` classes with the lowest values. Classes without a finite value are left out.
template <class Value, class Name>
std::vector<std::string> lowest_of(size_t classes, size_t most, Value value, Name name) {
  std::vector<std::pair<double, size_t>> lowest;
  for (size_t i = 0; i < classes; ++i)
    if (const std::optional<double> x = value(i); x && std::isfinite(*x))
      lowest.emplace_back(*x, i);
  std::sort(lowest.begin(), lowest.end());
  lowest.resize(std::min(lowest.size(), most));
  std::vector<std::string> texts;
  for (const auto& [x, i] : lowest)
    texts.push_back(fmt::format("{} {:.4g}", name(i), x));
  return texts;
}

std::vector<std::string> lowest_recalls(const class_table& t, size_t most) {
  return lowest_of(
      t.classes, most, [&](size_t i) { return t.recall(i); }, [&](size_t i) { return t.name(i); });
}

/// One line for an array: "recall [30]: lowest a 0.25, b 0.5".
std::string lowest_text(const std::string& name, const tensor& array, std::string_view lowest,
                        const std::vector<std::string>& classes) {
  auto text = fmt::format("{} {}", name, to_text(array.dims()));
  for (size_t k = 0; k < classes.size(); ++k)
    text += fmt::format("{} {}", k == 0 ? fmt::format(": {}", lowest) : ",", classes[k]);
  return text + "\n";
}

/// The confusion matrix with the same prefix, if `array` has one element for each of its classes.
std::optional<class_table> classes_beside(const std::string& name, const tensor& array,
                                          const std::map<std::string, tensor>& arrays, const text_style& style) {
  const auto matrix = arrays.find(name.substr(0, name.rfind('/') + 1) + std::string{matrix_name});
  if (array.dims().rank() != 1 || matrix == arrays.end())
    return {};
  auto table = class_table_of(matrix->first, matrix->second, style);
  return table && table->classes == static_cast<size_t>(array.elements()) ? std::move(table) : std::nullopt;
}

/// The text of an array that is not a confusion matrix.
std::string array_text(const std::string& name, const tensor& array, const std::map<std::string, tensor>& arrays,
                       const text_style& style) {
  auto text = arrays_text({{name, array}});
  if (!style.window)
    return text;
  const auto table = classes_beside(name, array, arrays, style);
  if (fits_in(text, *style.window) && !(table && table->classes > shown_classes_max))
    return text;
  const auto values = array.as<double>();
  return lowest_text(name, array, "lowest",
                     table ? lowest_of(
                         table->classes, lowest_in_place, [&](size_t i) { return std::optional{values[i]}; },
                         [&](size_t i) { return table->name(i); })
                           : std::vector<std::string>{});
}

}  // namespace

std::map<std::string, std::vector<std::string>> class_names_of(const model& m) {
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& [name, text] : m.texts)
    if (const auto prefix = prefix_of(name, words_name))
      names[*prefix + std::string{matrix_name}] = text.words;
  return names;
}

std::string tables_text(const std::map<std::string, tensor>& arrays, const text_style& style) {
  std::string text;
  for (const auto& [name, array] : arrays) {
    const auto matrix = class_table_of(name, array, style);
    if (const auto table = matrix ? table_text(*matrix, style) : std::nullopt)
      text += name + ": labels in rows, predictions in columns\n" + *table;
    else
      text += matrix && style.window
                  ? lowest_text(name, array, "lowest recall", lowest_recalls(*matrix, lowest_in_place))
                  : array_text(name, array, arrays, style);
  }
  return text;
}

std::vector<text_field> recall_fields(const std::map<std::string, tensor>& arrays, const text_style& style, int rank) {
  std::vector<text_field> fields;
  for (const auto& [name, array] : arrays) {
    const auto matrix = class_table_of(name, array, style);
    bool first = true;
    for (auto& lowest : matrix ? lowest_recalls(*matrix, lowest_in_line) : std::vector<std::string>{}) {
      const bool begins = std::exchange(first, false);
      fields.push_back(
          {rank, (begins ? fmt::format("lowest {}recall ", matrix->prefix) : "") + lowest, begins ? "; " : ", "});
    }
  }
  return fields;
}

std::string recall_text(const std::map<std::string, tensor>& arrays, const text_style& style) {
  std::string text;
  for (const auto& f : recall_fields(arrays, style, 0))
    text.append(f.before).append(f.text);
  return text;
}

}  // namespace troupe::cli
