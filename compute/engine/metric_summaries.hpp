// Turns metrics into the summaries of an event file: scalars, arrays as text tables, and matrices as pictures too.
#pragma once

#include <troupe/summary.hpp>

#include <map>

namespace troupe {

/// Numbers come first, then arrays, each by name. Each number except `global_step` gives a scalar. Each array gives a
/// text table of its first 100 rows and columns. A matrix of at most 1,024 rows and columns also gives a picture under
/// "<name>/image".
std::vector<summary_value> summaries_of(const std::map<std::string, double>& numbers,
                                        const std::map<std::string, tensor>& arrays);

/// A Markdown table with indices: a matrix row by row, an array of any other rank as a single row.
std::string markdown_of(const tensor& array);

/// A matrix as grey squares, uint8 [height, width, 1]. The grey level shows an element's share of its row's sum of
/// absolute values: white for 0, black for 1. A matrix of few elements has larger squares.
tensor picture_of(const tensor& array);

}  // namespace troupe
