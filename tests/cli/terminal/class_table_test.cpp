#include "cli/terminal/class_table.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace troupe::cli {

namespace {

tensor matrix(int64_t classes, const std::vector<double>& cells) {
  return tensor::of<double>({classes, classes}, std::span<const double>{cells});
}

const text_style named{.classes = {{"confusion_matrix", {"shirt", "bag"}}, {"kind/confusion_matrix", {"été", "a"}}}};

}  // namespace

TEST_CASE("the words that a model predicts name the classes of the matrix beside them") {
  const model m{.texts = {{"classes", {"class_ids", {"a", "b"}}},
                          {"kind/classes", {"kind/class_ids", {"c", "d"}}},
                          {"subclasses", {"x", {"e", "f"}}}}};
  CHECK(class_names_of(m)
        == std::map<std::string, std::vector<std::string>>{{"confusion_matrix", {"a", "b"}},
                                                           {"kind/confusion_matrix", {"c", "d"}}});
  CHECK(class_names_of(model{}).empty());
}

TEST_CASE("a confusion matrix has names, whole counts and the recall of each class") {
  CHECK(tables_text({{"confusion_matrix", matrix(2, {17, 3, 1, 12345})}}, named)
        == "confusion_matrix: labels in rows, predictions in columns\n"
           "         shirt    bag  recall\n"
           "  shirt     17      3   0.850\n"
           "  bag        1  12345   1.000\n");
  CHECK(tables_text({{"kind/confusion_matrix", matrix(2, {0, 0, 0.5, 2.25})}}, named)
        == "kind/confusion_matrix: labels in rows, predictions in columns\n"
           "       été     a  recall\n"
           "  été    0     0       -\n"
           "  a    0.5  2.25   0.818\n");
}

TEST_CASE("without names, with names for another number of classes or without room for them, classes have numbers") {
  const std::string numbered = "     0  1  recall\n  0  1  0   1.000\n  1  1  3   0.750\n";
  const std::map<std::string, tensor> arrays{{"confusion_matrix", matrix(2, {1, 0, 1, 3})}};
  const auto table = [&](const text_style& style) {
    const auto text = tables_text(arrays, style);
    return text.substr(text.find('\n') + 1);
  };
  CHECK(table({}) == numbered);
  CHECK(table({.classes = {{"confusion_matrix", {"a", "b", "c"}}}}) == numbered);
  const text_style narrow{.classes = named.classes, .window = 28}, just{.classes = named.classes, .window = 29};
  CHECK(table(just).starts_with("         shirt  bag  recall\n"));
  CHECK(table({.classes = named.classes, .window = 26})
        == "           0  1  recall\n  0 shirt  1  0   1.000\n  1 bag    1  3   0.750\n");
  CHECK(table(narrow) == table(just));
}

TEST_CASE("other arrays, and matrices of more than 20 classes, are shown as everywhere") {
  const std::map<std::string, tensor> others{{"confusion", matrix(2, {1, 2, 3, 4})},
                                             {"my_confusion_matrix", matrix(2, {1, 2, 3, 4})},
                                             {"recall", tensor::of<double>({2}, {0.5, 1})}};
  CHECK(tables_text(others, named) == arrays_text(others));
  CHECK(tables_text({{"confusion_matrix", tensor::zeros(dtype::float64, {21, 21})}}, {})
        == "confusion_matrix [21, 21]\n");
  CHECK(tables_text({}, {}) == "");
}

TEST_CASE("in a window a table that does not fit is one line with the five classes of the lowest recall") {
  // The recall of class i is (i + 1) / 10, except for the last class, whose recall is 1.
  std::vector<double> cells(36, 0);
  for (size_t i = 0; i < 6; ++i) {
    cells[i * 7] = static_cast<double>(i + 1);
    if (i < 5)
      cells[i * 7 + 1] = static_cast<double>(9 - i);
  }
  const auto six = matrix(6, cells);
  const text_style letters{.classes = {{"confusion_matrix", {"a", "b", "c", "d", "e", "f"}}}, .window = 28};
  const std::string five = "confusion_matrix [6, 6]: lowest recall a 0.1, b 0.2, c 0.3, d 0.4, e 0.5\n";
  CHECK(tables_text({{"confusion_matrix", six}}, letters) == five);
  CHECK(tables_text({{"confusion_matrix", six}}, {.window = 1})
        == "confusion_matrix [6, 6]: lowest recall 0 0.1, 1 0.2, 2 0.3, 3 0.4, 4 0.5\n");
  const text_style wider{.classes = letters.classes, .window = 29};
  CHECK(tables_text({{"confusion_matrix", six}}, wider)
            .starts_with("confusion_matrix: labels in rows, predictions in columns\n     a  b  c  d  e  f  recall\n"));
  CHECK(tables_text({{"confusion_matrix", matrix(2, {1, 0, 0, 0})}}, {.window = 5})
        == "confusion_matrix [2, 2]: lowest recall 0 1\n");
}

TEST_CASE("in a window of any width more than 20 classes are told by the five lowest") {
  std::vector<double> cells(21 * 21, 0);
  for (const size_t i : {3, 7, 20}) {
    cells[i * 21 + i] = 1;
    cells[i * 21] = static_cast<double>(i);
  }
  CHECK(tables_text({{"kind/confusion_matrix", matrix(21, cells)}}, {.window = 1000})
        == "kind/confusion_matrix [21, 21]: lowest recall 20 0.04762, 7 0.125, 3 0.25\n");
  CHECK(tables_text({{"confusion_matrix", tensor::zeros(dtype::float64, {21, 21})}}, {.window = 1000})
        == "confusion_matrix [21, 21]\n");
}

TEST_CASE("in a window an array with an element for each class of the matrix beside it is told by its five lowest") {
  const std::map<std::string, tensor> arrays{{"confusion_matrix", matrix(2, {1, 0, 1, 3})},
                                             {"kind/precision", tensor::of<double>({2}, {0.5, 0.25})},
                                             {"precision", tensor::of<double>({2}, {0.5, std::nan("")})},
                                             {"thresholds", tensor::of<double>({3}, {1, 2, 3})}};
  const auto text = [&](size_t window) { return tables_text(arrays, {.classes = named.classes, .window = window}); };
  CHECK(text(14).ends_with("kind/precision\n   0.5  0.25\nprecision\n  0.5  nan\nthresholds\n  1  2  3\n"));
  CHECK(text(8)
        == "confusion_matrix [2, 2]: lowest recall bag 0.75, shirt 1\nkind/precision [2]\n"
           "precision [2]: lowest shirt 0.5\nthresholds [3]\n");
}

TEST_CASE("the three classes of the lowest recall are told, those without an example never") {
  CHECK(recall_text({{"confusion_matrix", matrix(2, {17, 3, 0, 4})}}, named) == "; lowest recall shirt 0.85, bag 1");
  CHECK(recall_text({{"confusion_matrix",
                      matrix(5, {1, 1, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1})}},
                    {})
        == "; lowest recall 3 0.25, 0 0.5, 1 1");
  CHECK(recall_text(
            {{"kind/confusion_matrix", matrix(2, {1, 0, 3, 1})}, {"size/confusion_matrix", matrix(2, {0, 0, 0, 0})}},
            named)
        == "; lowest kind/recall a 0.25, été 1");
  CHECK(recall_text({{"recall", tensor::of<double>({2}, {0.5, 1})}}, named) == "");
}

}  // namespace troupe::cli
