// The rows of a variable whose axis stands for words: each new word takes its old row, the other rows get initial
// values.
#pragma once

#include "compute/parameters/parameter_store.hpp"
#include "storage/files/file_system.hpp"

#include <troupe/warm_start.hpp>

namespace troupe {

class word_rows {
 public:
  /// Reads the vocabularies. Errors: invalid_argument naming the field, after `label`, if words occur twice or are
  /// fewer than stated, or if the variable's extent is not that of words and buckets; not_found and the errors of the
  /// files.
  static expected<word_rows> make(file_system& files, const vocab_info& info, const parameter_entry& variable,
                                  const std::string& label);

  int64_t old_words() const noexcept { return old_words_; }
  /// Whether old rows can be taken from a tensor of this shape: it has at least as many rows as there are old words,
  /// and the variable's other extents.
  bool fits(const shape& old) const;
  /// The variable's value. Each new word takes its row of `old`, which must fit and have the variable's dtype; other
  /// rows get what the initialiser draws by seed and name. Error: resource_exhausted.
  expected<tensor> apply(const parameter_entry& variable, uint64_t seed, const tensor& old) const;

 private:
  std::vector<int64_t> from_;  ///< For each new word its old row, or -1 if there is none.
  int64_t old_words_ = 0;
  shape dims_;  ///< Of the variable.
  int axis_ = 0;
  std::optional<initializer> backup_;  ///< Absent: the initializer of the variable itself.
};

}  // namespace troupe
