// The arrays of a result as tables: a confusion matrix has the names of its classes, and the recall of each.
#pragma once

#include "cli/terminal/columns.hpp"

#include <troupe/hook.hpp>
#include <troupe/model.hpp>

namespace troupe::cli {

struct text_style {
  /// What the classes of a confusion matrix are called, by the matrix's name; one that is not here has their numbers.
  std::map<std::string, std::vector<std::string>> classes = {};
  /// The columns of the terminal's window, in which every text fits. Nothing: there is no window; nothing is left out
  /// of the texts, as programs may read them.
  std::optional<size_t> window = {};
};

/// The words that a model predicts as "kind/classes", for the matrix "kind/confusion_matrix" beside it.
std::map<std::string, std::vector<std::string>> class_names_of(const model& m);

/// What arrays_text says, but of matrices called confusion_matrix, in rows of at most 20 classes:
///
///   confusion_matrix: labels in rows, predictions in columns
///          shirt  bag  recall
///   shirt     17    3   0.850
///   bag        1   19   0.950
///
/// The recall of a class is the share of its weight that was predicted as that class; "-" where it has none. If the
/// table would be wider than the window, or than 120 columns where there is none, columns have the classes' numbers.
///
/// In a window an array that still does not fit is one line. If it is of classes, the line has the lowest five:
///
///   confusion_matrix [10, 10]: lowest recall Shirt 0.58, Pullover 0.774, Coat 0.798, Dress 0.845, T-shirt/top 0.856
///
/// Of classes are the matrix itself, and arrays of rank 1 with the same prefix that have an element for each class.
std::string tables_text(const std::map<std::string, tensor>& arrays, const text_style& style);
/// "; lowest recall shirt 0.85, bag 0.95": at most three classes of each such matrix, of any size. Nothing where there is none.
std::string recall_text(const std::map<std::string, tensor>& arrays, const text_style& style);
/// The same as fields of a line, one for each class, all of this rank.
std::vector<text_field> recall_fields(const std::map<std::string, tensor>& arrays, const text_style& style, int rank);

}  // namespace troupe::cli
