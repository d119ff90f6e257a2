// Arrays of a result as tables: a confusion matrix gets the names of its classes and the recall of each.
#pragma once

#include "cli/terminal/columns.hpp"

#include <troupe/hook.hpp>
#include <troupe/model.hpp>

namespace troupe::cli {

struct text_style {
  /// The names of the classes, by the name of the confusion matrix. A matrix that is not listed shows numbers.
  std::map<std::string, std::vector<std::string>> classes = {};
  /// The width of the terminal's window in columns; texts are made to fit. Nothing if there is no window: texts are
  /// then complete, as programs may read them.
  std::optional<size_t> window = {};
};

/// The class names that a model predicts as "kind/classes", for the matrix "kind/confusion_matrix" with the same
/// prefix.
std::map<std::string, std::vector<std::string>> class_names_of(const model& m);

/// The text of arrays_text, except that confusion matrices of at most 20 classes become tables:
///
///   confusion_matrix: labels in rows, predictions in columns
///          shirt  bag  recall
///   shirt     17    3   0.850
///   bag        1   19   0.950
///
/// The recall of a class is the share of its weight that was predicted as that class; "-" if it has no weight. If the
/// table would be wider than the window, or than 120 columns without a window, numbers replace the names as titles.
///
/// In a window an array that still does not fit becomes one line. If it belongs to classes, the line has the lowest
/// five:
///
///   confusion_matrix [10, 10]: lowest recall Shirt 0.58, Pullover 0.774, Coat 0.798, Dress 0.845, T-shirt/top 0.856
///
/// The matrix itself belongs to classes, and so do arrays of rank 1 with the same prefix and one element for each
/// class.
std::string tables_text(const std::map<std::string, tensor>& arrays, const text_style& style);
/// "; lowest recall shirt 0.85, bag 0.95": at most three classes for each confusion matrix, whatever its size. Empty if
/// there is none.
std::string recall_text(const std::map<std::string, tensor>& arrays, const text_style& style);
/// The same text as fields of a line, one for each class, all with this rank.
std::vector<text_field> recall_fields(const std::map<std::string, tensor>& arrays, const text_style& style, int rank);

}  // namespace troupe::cli
