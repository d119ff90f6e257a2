// What event files keep of metrics: scalars, arrays as tables of text, and arrays of rank 2 as pictures too.
#pragma once

#include <troupe/summary.hpp>

#include <map>

namespace troupe {

/// In the order of their names: a scalar for each number but `global_step`; for each array its table as text, of which the first 100 rows and
/// columns are kept, and for one of rank 2 and at most 1,024 rows and columns a picture under "<name>/image".
std::vector<summary_value> summaries_of(const std::map<std::string, double>& numbers, const std::map<std::string, tensor>& arrays);

/// An array as a Markdown table: a row of numbers, or rows, with the indices of rows and columns. Arrays of other ranks have one row.
std::string markdown_of(const tensor& array);

/// An array of rank 2 as grey squares, uint8 [height, width, 1]: white where an element is 0, black where it is the whole sum of its row's
/// absolute values. A matrix of few elements has larger squares.
tensor picture_of(const tensor& array);

}  // namespace troupe
