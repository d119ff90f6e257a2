// Vocabularies: words that stand for the numbers 0, 1, 2, ... Tensors hold only numbers, so words become numbers before
// they are labels, and predicted numbers become words again.
// Not needed to begin with.
//
//   const std::vector<std::string> kinds{"shirt", "bag", "boot"};
//   auto labels = tr::indices_of(words, kinds);                      // int32, one a word
//   auto data = tr::dataset::from_tensors({{"pixels", pixels}}, {{"label", *labels}});
//   auto model = tr::dnn_classifier({.hidden_units = {64}, .vocabulary = kinds});  // Predicts "classes" too, as words.
#pragma once

#include <troupe/tensor.hpp>

namespace troupe {

/// invalid_argument: a repeated word, which the error names, or no words. Any thread.
TROUPE_API expected<void> validate_vocabulary(std::span<const std::string> vocabulary);

/// The number of each word: int32 [words]. invalid_argument: a word that is not in the vocabulary, naming the first one
/// and its row, or an error of `validate_vocabulary`. Any thread.
TROUPE_API expected<tensor> indices_of(std::span<const std::string> words, std::span<const std::string> vocabulary);

}  // namespace troupe
