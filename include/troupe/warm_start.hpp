// Warm start: variables of a new job begin with the values of a stored checkpoint instead of their initial values.
// Not needed to begin with.
//
//   const tr::estimator e{model, {.model_dir = "runs/new"}, tr::warm_start_settings{.ckpt_to_initialize_from = "runs/old"}};
//
// It applies where a training finds no checkpoint in its model directory, or has none, and where an evaluation or a prediction finds
// none; a job that goes on from a checkpoint takes nothing. The settings have the names of TensorFlow's WarmStartSettings and VocabInfo.
//
// Errors come before the first step: invalid_argument: a field that cannot be, an expression that is none; a name of a map, or a
// vocabulary, that no variable used, listing all of them; another dtype or shape, naming the variable, both types and the file; a word that
// occurs twice. not_found: no such checkpoint or file of words; a variable that the checkpoint does not have, listing all of them.
// data_loss: stored bytes that are damaged.
#pragma once

#include <troupe/graph.hpp>

#include <map>
#include <optional>

namespace troupe {

/// Rows of one variable that stand for words: each new word takes the row that it had in the old vocabulary.
struct vocab_info {
  std::string new_vocab = {};                 ///< A file with a word a line,
  std::vector<std::string> new_words = {};    ///<   or the words themselves.
  int64_t new_vocab_size = -1;                ///< So many of them, the first ones; -1: all.
  int64_t num_oov_buckets = 0;                ///< Rows behind the words, for those out of vocabulary: they always get initial values.
  std::string old_vocab = {};                 ///< The same of the checkpoint; what it has behind the words is not used.
  std::vector<std::string> old_words = {};
  int64_t old_vocab_size = -1;
  initializer backup_initializer = init::zeros();  ///< Of words that the old vocabulary does not have, and of OOV rows; drawn as ever.
  bool own_initializer = false;               ///< They get the variable's own initial values instead.
  int axis = 0;                               ///< The words are along this axis: 0 of an embedding, 1 of the kernel of a layer of logits.
};

struct warm_start_settings {
  /// A model directory of ours or of TensorFlow's Estimator (its newest checkpoint), the prefix of a checkpoint, a safetensors file.
  std::string ckpt_to_initialize_from = {};
  /// A regular expression (ECMAScript's; it matches from the beginning of a name on) over trainable variables; absent: only those
  /// with an entry in `var_name_to_vocab_info`.
  std::optional<std::string> vars_to_warm_start = ".*";
  /// If there are any, these in place of the one above, over all that model and checkpoint both have: also variables that are not trained, slots of optimizers
  /// ("w/Adam") and "global_step", from which the job then counts on. not_found: one chooses nothing; with `freeze`, a trainable one is not there.
  std::vector<std::string> global_vars_to_warm_start = {};
  std::map<std::string, vocab_info> var_name_to_vocab_info = {};        ///< By variable; taken whatever the expressions say.
  std::map<std::string, std::string> var_name_to_prev_var_name = {};    ///< Variable to name in the checkpoint, where that differs.
  bool freeze = false;  ///< Variables that are taken are not trained, also when the job is resumed: no gradient, no slots.
};

/// invalid_argument naming the first field that cannot be, or an expression that is none.
TROUPE_API expected<void> validate(const warm_start_settings& settings);

}  // namespace troupe
