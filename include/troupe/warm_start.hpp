// Warm start: variables of a new job begin with the values of a stored checkpoint instead of their initial values.
// Not needed to begin with.
//
//   const tr::estimator e{model, {.model_dir = "runs/new"},
//                         tr::warm_start_settings{.ckpt_to_initialize_from = "runs/old"}};
//
// It applies to a training, an evaluation or a prediction without a checkpoint in its model directory; a job that
// resumes takes nothing. The settings have the names of TensorFlow's WarmStartSettings and VocabInfo.
//
// Errors come before the first step. invalid_argument: an invalid field or expression; names in a map, or vocabularies,
// that no variable used, all of them; another dtype or shape, naming the variable, both types and the file; a repeated
// word. not_found: no such checkpoint or file of words; variables that the checkpoint does not have, all of them.
// data_loss: stored bytes are damaged.
#pragma once

#include <troupe/graph.hpp>

#include <map>
#include <optional>

namespace troupe {

/// For a variable whose rows stand for words, such as an embedding: each word of the new vocabulary takes the row that
/// it has in the old one.
struct vocab_info {
  std::string new_vocab = {};               ///< The words of this model: a file with one word on each line,
  std::vector<std::string> new_words = {};  ///<   or the words themselves.
  int64_t new_vocab_size = -1;              ///< Only this many of them, the first ones; -1: all.
  int64_t num_oov_buckets = 0;              ///< Rows after the words, for unknown words; they get initial values.
  std::string old_vocab = {};               ///< The words of the checkpoint, likewise. Rows after them are unused.
  std::vector<std::string> old_words = {};
  int64_t old_vocab_size = -1;
  /// The initial values of out-of-vocabulary rows and of words that the old vocabulary lacks, drawn as usual.
  initializer backup_initializer = init::zeros();
  bool own_initializer = false;  ///< These rows get the variable's own initial values instead.
  int axis = 0;                  ///< The axis of the words: 0 of an embedding, 1 of a logits kernel.
};

/// Which values of which checkpoint the variables of a new job begin with.
struct warm_start_settings {
  /// A model directory (ours or of TensorFlow's Estimator: its newest checkpoint), a prefix or a safetensors file.
  std::string ckpt_to_initialize_from = {};
  /// A regular expression (ECMAScript's, matched from the beginning of a name) that chooses trainable variables.
  /// Absent: only those with an entry in `var_name_to_vocab_info`.
  std::optional<std::string> vars_to_warm_start = ".*";
  /// If not empty, these expressions replace the one above. They choose among everything that both model and checkpoint
  /// have, also variables that are not trained, slots of optimizers ("w/Adam") and "global_step", from which the job
  /// then counts. not_found: one of them chooses nothing; with `freeze`, a trainable variable is not there.
  std::vector<std::string> global_vars_to_warm_start = {};
  std::map<std::string, vocab_info> var_name_to_vocab_info = {};      ///< By variable, beside the expressions.
  std::map<std::string, std::string> var_name_to_prev_var_name = {};  ///< Variable to its name in the checkpoint.
  bool freeze = false;  ///< The chosen variables are not trained, also after a resume: no gradient, no slots.
};

/// invalid_argument naming the first invalid field or expression.
TROUPE_API expected<void> validate(const warm_start_settings& settings);

}  // namespace troupe
