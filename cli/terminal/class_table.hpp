// The arrays of a result as tables: a confusion matrix has the names of its classes, and the recall of each.
#pragma once

#include <troupe/hook.hpp>
#include <troupe/model.hpp>

namespace troupe::cli {

struct table_style {
  /// What the classes of a confusion matrix are called, by the matrix's name; one that is not here has their numbers.
  std::map<std::string, std::vector<std::string>> classes = {};
  size_t width = 120;  ///< Of a line. Columns have numbers where their names would be wider.
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
/// The recall of a class is the share of its weight that was predicted as that class; "-" where it has none.
std::string tables_text(const std::map<std::string, tensor>& arrays, const table_style& style);
/// "; lowest recall shirt 0.85, bag 0.95": at most three classes of each such matrix, of any size. Nothing where there is none.
std::string recall_text(const std::map<std::string, tensor>& arrays, const table_style& style);

}  // namespace troupe::cli
