#include "compute/engine/metric_summaries.hpp"

#include "compute/kernels/element_text.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

constexpr int64_t table_max = 100, picture_max = 1024, picture_pixels = 256;

/// The rows and columns of the table that shows `array`.
std::pair<int64_t, int64_t> table_of(const tensor& array) {
  return array.dims().rank() == 2 ? std::pair{array.dims()[0], array.dims()[1]}
                                  : std::pair{int64_t{1}, array.elements()};
}

std::string number_at(const tensor& array, int64_t index) { return element_text(dtype::float64, array.data(), index); }

}  // namespace

std::string markdown_of(const tensor& array) {
  const auto [rows, columns] = table_of(array);
  const int64_t shown_rows = std::min(rows, table_max), shown_columns = std::min(columns, table_max);
  std::string text = "| |", rule = "|---|";
  for (int64_t j = 0; j < shown_columns; ++j) {
    text += " " + std::to_string(j) + " |";
    rule += "---|";
  }
  text += "\n" + rule;
  for (int64_t i = 0; i < shown_rows; ++i) {
    text += "\n| " + (array.dims().rank() == 2 ? "**" + std::to_string(i) + "**" : std::string{}) + " |";
    for (int64_t j = 0; j < shown_columns; ++j)
      text += " " + number_at(array, i * columns + j) + " |";
  }
  if (shown_rows < rows || shown_columns < columns)
    text += "\n\nThe first " + std::to_string(shown_rows) + " × " + std::to_string(shown_columns) + " of "
            + std::to_string(rows) + " × " + std::to_string(columns) + ".";
  return text;
}

tensor picture_of(const tensor& array) {
  const int64_t rows = array.dims()[0], columns = array.dims()[1],
                side = std::max<int64_t>(1, picture_pixels / std::max<int64_t>({rows, columns, 1}));
  const auto x = array.as<double>();
  std::vector<uint8_t> pixels(static_cast<size_t>(rows * columns * side * side));
  for (int64_t i = 0; i < rows; ++i) {
    const auto row = x.subspan(static_cast<size_t>(i * columns), static_cast<size_t>(columns));
    double whole = 0;
    for (const double value : row)
      whole += std::abs(value);
    for (int64_t j = 0; j < columns; ++j) {
      // NaN if the row is all zeros or has an element that is not finite. NaN becomes white.
      const double share = std::abs(row[static_cast<size_t>(j)]) / whole;
      const auto grey = static_cast<uint8_t>(share > 0 ? std::lround(255 * (1 - std::min(share, 1.0))) : 255);
      for (int64_t line = i * side; line < (i + 1) * side; ++line)
        std::fill_n(pixels.begin() + static_cast<std::ptrdiff_t>((line * columns + j) * side), side, grey);
    }
  }
  return tensor::of<uint8_t>({rows * side, columns * side, 1}, std::span<const uint8_t>{pixels});
}

std::vector<summary_value> summaries_of(const std::map<std::string, double>& numbers,
                                        const std::map<std::string, tensor>& arrays) {
  using kind = summary_value::kind;
  std::vector<summary_value> all;
  for (const auto& [name, value] : numbers)
    if (name != "global_step")
      all.push_back({.tag = name, .scalar = value});
  for (const auto& [name, array] : arrays) {
    all.push_back({.what = kind::text, .tag = name, .text = markdown_of(array)});
    if (const auto& dims = array.dims();
        dims.rank() == 2 && array.elements() > 0 && dims[0] <= picture_max && dims[1] <= picture_max)
      all.push_back({.what = kind::image, .tag = name + "/image", .image = picture_of(array)});
  }
  return all;
}

}  // namespace troupe
