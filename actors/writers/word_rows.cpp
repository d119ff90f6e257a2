#include "actors/writers/word_rows.hpp"

#include "compute/parameters/initializers.hpp"
#include "words/text.hpp"

#include <cstring>
#include <unordered_map>

namespace troupe {

namespace {

constexpr int64_t words_bytes_max = int64_t{1} << 30;

/// The lines of a file; the last one may lack its newline.
expected<std::vector<std::string>> words_of_file(file_system& files, const std::string& path) {
  const auto text = read_file(files, path, words_bytes_max);
  if (!text)
    return fail(text.error());
  std::vector<std::string> words;
  for (size_t at = 0; at < text->size();) {
    const size_t end = std::min(text->find('\n', at), text->size());
    std::string word = text->substr(at, end - at);
    if (word.ends_with('\r'))
      word.pop_back();
    words.push_back(std::move(word));
    at = end + 1;
  }
  return words;
}

/// The words of a vocabulary: the first `size` of them, or all if `size` is negative.
expected<std::vector<std::string>> words_of(file_system& files, const std::string& path,
                                            const std::vector<std::string>& given, int64_t size,
                                            const std::string& label, const std::string& which) {
  auto words = path.empty() ? expected<std::vector<std::string>>{given} : words_of_file(files, path);
  if (!words) {
    words.error().message = label + "." + which + "_vocab: " + words.error().message;
    return words;
  }
  const std::string whose = path.empty() ? which + "_words" : path;
  if (size > static_cast<int64_t>(words->size()))
    return fail(errc::invalid_argument, label + "." + which + "_vocab_size is " + std::to_string(size) + ", and "
                                            + whose + " has " + std::to_string(words->size()) + " words");
  if (size >= 0)
    words->resize(static_cast<size_t>(size));
  if (words->empty())
    return fail(errc::invalid_argument, label + ": there are no " + which + " words");
  return words;
}

expected<std::unordered_map<std::string_view, int64_t>> rows_of(const std::vector<std::string>& words,
                                                                const std::string& label, const std::string& which) {
  std::unordered_map<std::string_view, int64_t> rows;
  for (const auto& word : words)
    if (const auto row = static_cast<int64_t>(rows.size()); !rows.emplace(word, row).second)
      return fail(errc::invalid_argument, label + ": the " + which + " words have '" + word + "' twice, as numbers "
                                              + std::to_string(rows.at(word)) + " and " + std::to_string(row));
  return rows;
}

int64_t product(std::span<const int64_t> extents) {
  int64_t n = 1;
  for (const int64_t e : extents)
    n *= e;
  return n;
}

}  // namespace

expected<word_rows> word_rows::make(file_system& files, const vocab_info& info, const parameter_entry& variable,
                                    const std::string& label) {
  const auto fresh = words_of(files, info.new_vocab, info.new_words, info.new_vocab_size, label, "new");
  if (!fresh)
    return fail(fresh.error());
  const auto old = words_of(files, info.old_vocab, info.old_words, info.old_vocab_size, label, "old");
  if (!old)
    return fail(old.error());
  if (const auto once = rows_of(*fresh, label, "new"); !once)
    return fail(once.error());
  const auto rows = rows_of(*old, label, "old");
  if (!rows)
    return fail(rows.error());
  const auto count = static_cast<int64_t>(fresh->size());
  if (info.axis >= variable.dims.rank())
    return fail(errc::invalid_argument, label + ".axis is " + std::to_string(info.axis) + ", and the variable is "
                                            + type_text(variable.type, variable.dims));
  if (variable.dims[info.axis] - info.num_oov_buckets != count)
    return fail(errc::invalid_argument,
                label + ": " + std::to_string(count) + " new words and " + std::to_string(info.num_oov_buckets)
                    + " num_oov_buckets are not the extent " + std::to_string(variable.dims[info.axis]) + " of axis "
                    + std::to_string(info.axis) + " of the variable, which is "
                    + type_text(variable.type, variable.dims));
  word_rows made;
  for (const auto& word : *fresh) {
    const auto row = rows->find(word);
    made.from_.push_back(row == rows->end() ? -1 : row->second);
  }
  made.old_words_ = static_cast<int64_t>(old->size());
  made.dims_ = variable.dims;
  made.axis_ = info.axis;
  if (!info.own_initializer)
    made.backup_ = info.backup_initializer;
  return made;
}

bool word_rows::fits(const shape& old) const {
  if (old.rank() != dims_.rank() || old[axis_] < old_words_)
    return false;
  for (int d = 0; d < dims_.rank(); ++d)
    if (d != axis_ && old[d] != dims_[d])
      return false;
  return true;
}

expected<tensor> word_rows::apply(const parameter_entry& variable, uint64_t seed, const tensor& old) const {
  auto value = allocate_buffer(dims_.elements() * size_of(variable.type));
  if (!value)
    return fail(errc::resource_exhausted,
                "no memory for the variable '" + variable.name + "', " + type_text(variable.type, dims_));
  parameter_entry whole = variable;
  if (backup_)
    whole.initial = *backup_;
  initialise(whole, seed, value.get());
  const auto extents = dims_.extents();
  const auto axis = static_cast<size_t>(axis_);
  const int64_t outer = product(extents.first(axis)),
                row_bytes = product(extents.subspan(axis + 1)) * size_of(variable.type);
  const int64_t rows = dims_[axis_], old_rows = old.dims()[axis_];
  for (int64_t o = 0; o < outer; ++o)
    for (size_t word = 0; word < from_.size(); ++word)
      if (from_[word] >= 0)
        std::memcpy(value.get() + (o * rows + static_cast<int64_t>(word)) * row_bytes,
                    old.data() + (o * old_rows + from_[word]) * row_bytes, static_cast<size_t>(row_bytes));
  return tensor{variable.type, dims_, std::move(value)};
}

}  // namespace troupe
