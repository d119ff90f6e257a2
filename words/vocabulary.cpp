#include <troupe/vocabulary.hpp>

#include <unordered_map>

namespace troupe {

namespace {

using numbers = std::unordered_map<std::string_view, int32_t>;

expected<numbers> numbered(std::span<const std::string> vocabulary) {
  if (vocabulary.empty())
    return fail(errc::invalid_argument, "the vocabulary has no words");
  numbers known;
  for (const auto& word : vocabulary)
    if (!known.emplace(word, static_cast<int32_t>(known.size())).second)
      return fail(errc::invalid_argument, "the vocabulary has '" + word + "' twice");
  return known;
}

}  // namespace

expected<void> validate_vocabulary(std::span<const std::string> vocabulary) {
  const auto known = numbered(vocabulary);
  return known ? expected<void>{} : fail(known.error());
}

expected<tensor> indices_of(std::span<const std::string> words, std::span<const std::string> vocabulary) {
  const auto known = numbered(vocabulary);
  if (!known)
    return fail(known.error());
  std::vector<int32_t> indices;
  indices.reserve(words.size());
  for (const auto& word : words) {
    const auto found = known->find(word);
    if (found == known->end())
      return fail(errc::invalid_argument, "'" + word + "' of row " + std::to_string(indices.size())
                                              + " is not in the vocabulary of " + std::to_string(vocabulary.size())
                                              + " words");
    indices.push_back(found->second);
  }
  return tensor::of<int32_t>({static_cast<int64_t>(indices.size())}, std::span<const int32_t>{indices});
}

}  // namespace troupe
