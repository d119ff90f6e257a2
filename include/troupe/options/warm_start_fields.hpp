// The tables of the fields of a warm start (options/option_field.hpp), without its maps and initializers.
// Not needed to begin with.
#pragma once

#include <troupe/options/option_field.hpp>
#include <troupe/warm_start.hpp>

namespace troupe {

#define TROUPE_FIELD(owner, field, ...) \
  option_field { #field, &owner::field, __VA_ARGS__ }

template <>
struct option_fields<warm_start_settings> {
  static constexpr std::tuple all{
      TROUPE_FIELD(warm_start_settings, ckpt_to_initialize_from,
                   "a new job begins with the variables of this: a model directory or a checkpoint, ours or "
                   "TensorFlow's, or a .safetensors file"),
      TROUPE_FIELD(warm_start_settings, vars_to_warm_start,
                   "an expression: the trainable variables that are taken; none: those with vocabularies alone"),
      TROUPE_FIELD(warm_start_settings, global_vars_to_warm_start,
                   "or expressions over all variables, slots and global_step that it has"),
      TROUPE_FIELD(warm_start_settings, freeze, "what is taken is not trained")};
};

template <>
struct option_fields<vocab_info> {
  static constexpr std::tuple all{
      TROUPE_FIELD(vocab_info, new_vocab, "a file with a word a line: the words of its rows"),
      TROUPE_FIELD(vocab_info, new_words, "or the words themselves"),
      TROUPE_FIELD(vocab_info, new_vocab_size, "only so many of them; -1: all", field_range::at_least(-1)),
      TROUPE_FIELD(vocab_info, num_oov_buckets, "rows behind the words, for others", field_range::at_least(0)),
      TROUPE_FIELD(vocab_info, old_vocab, "the same file of the checkpoint"),
      TROUPE_FIELD(vocab_info, old_words, "or its words themselves"),
      TROUPE_FIELD(vocab_info, old_vocab_size, "only so many of them; -1: all", field_range::at_least(-1)),
      TROUPE_FIELD(vocab_info, own_initializer, "rows of new words get the variable's own initial values, not zeros"),
      TROUPE_FIELD(vocab_info, axis, "the axis of the words", field_range::between(0, 7))};
};

#undef TROUPE_FIELD

}  // namespace troupe
