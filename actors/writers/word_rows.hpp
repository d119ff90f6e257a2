// The rows of a variable by the words that they stand for: each new word takes its old row, the others get initial values.
#pragma once

#include "compute/parameters/parameter_store.hpp"
#include "storage/files/file_system.hpp"

#include <troupe/warm_start.hpp>

namespace troupe {

class word_rows {
 public:
  /// Reads the vocabularies. invalid_argument naming the field, which begins with `label`: words that occur twice or are not as many as
  /// is said, a variable whose extent is not that of words and buckets; not_found and the errors of the files.
  static expected<word_rows> make(file_system& files, const vocab_info& info, const parameter_entry& variable, const std::string& label);

  int64_t old_words() const noexcept { return old_words_; }
  /// Whether the old rows of a tensor of this shape can be taken: it has as many as there are old words, and the other extents.
  bool fits(const shape& old) const;
  /// The variable's value: for each new word its row of `old`, which fits and has the variable's dtype; for others what the
  /// initialiser draws by seed and name. resource_exhausted.
  expected<tensor> apply(const parameter_entry& variable, uint64_t seed, const tensor& old) const;

 private:
  std::vector<int64_t> from_;   ///< By new word: its old row; -1: there is none.
  int64_t old_words_ = 0;
  shape dims_;                  ///< The variable's.
  int axis_ = 0;
  std::optional<initializer> backup_;  ///< Absent: the variable's own.
};

}  // namespace troupe
