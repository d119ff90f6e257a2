// Vocabularies: words that stand for the numbers 0, 1, 2, ... Tensors hold numbers only, so text becomes numbers before it
// is a label, and a number becomes text again after it was predicted.
// Not needed to begin with.
//
//   const std::vector<std::string> kinds{"shirt", "bag", "boot"};
//   auto labels = tr::indices_of(words, kinds);                      // int32, one a word
//   auto data = tr::dataset::from_tensors({{"pixels", pixels}}, {{"label", *labels}});
//   auto model = tr::dnn_classifier({.hidden_units = {64}, .vocabulary = kinds});  // Predicts "classes" too, as words.
#pragma once

#include <troupe/tensor.hpp>

namespace troupe {

/// invalid_argument naming a word that occurs twice, or saying that there are no words. Any thread.
TROUPE_API expected<void> validate_vocabulary(std::span<const std::string> vocabulary);

/// The number of each word: int32 [words]. invalid_argument naming the row and the first word that is not in the
/// vocabulary, or an error of `validate_vocabulary`. Any thread.
TROUPE_API expected<tensor> indices_of(std::span<const std::string> words, std::span<const std::string> vocabulary);

}  // namespace troupe
