// Checkpoints of other programs: a TensorFlow V2 checkpoint or a safetensors file made into one of ours, and the other way round.
// Not needed to begin with.
//
//   auto done = tr::convert_checkpoint("runs/estimator", "runs/mine");   // The newest checkpoint of TensorFlow's Estimator.
//   if (done) std::cout << tr::to_text(*done);                          // What was converted, and what was left out, and why.
//
// A converted job goes on where the other one stood if its model's variables have the same names, shapes and dtypes: the ready-made
// models have the Estimator's, and slots are called as TensorFlow 1.x calls them. Its data begin anew. Tensors keep their bits. Nothing
// that is converted is changed, nothing that exists is overwritten. Any thread may call; two calls at once need two destinations.
#pragma once

#include <troupe/tensor.hpp>

#include <optional>

namespace troupe {

enum class checkpoint_format : uint8_t {
  troupe,       ///< A model directory with one checkpoint, which a job goes on from.
  tensorflow,   ///< A directory with `model.ckpt-<step>.index`, its data file, and the state file that names it.
  safetensors,  ///< A file with every tensor.
};
TROUPE_API std::string_view to_string(checkpoint_format f) noexcept;

struct convert_options {
  /// Unless given: safetensors where the destination ends in .safetensors, troupe of a TensorFlow checkpoint, else tensorflow.
  std::optional<checkpoint_format> format = {};
  std::optional<int64_t> step = {};  ///< Which checkpoint of a directory; the newest unless given.
  /// To TensorFlow: a checkpoint of TensorFlow's whose names are used where they differ from ours, so that the program that wrote it
  /// can go on: the Estimator's slots are called "w/t_0/Adam", and the powers of beta lie in a scope.
  std::optional<std::string> like = {};
  double beta1 = 0.9;                ///< To TensorFlow, where slots of Adam or AdaMax are found: its optimizers keep the powers
  double beta2 = 0.999;              ///<   beta^(step + 1) in variables, which ours compute.
};

struct converted_tensor {
  std::string name;                  ///< In the destination.
  std::string from = {};             ///< Its name in the source, where that differs; empty as well for one that was made.
  std::string dtype;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
  bool made = false;                 ///< It is not in the source: a power of beta, a global_step of 0.
};
struct left_tensor {
  std::string name;
  std::string reason;
};
struct conversion_report {
  std::string from, to;                   ///< Prefixes of checkpoints, or files.
  checkpoint_format from_format = checkpoint_format::troupe, to_format = checkpoint_format::troupe;
  int64_t step = 0;                       ///< Of the checkpoint: its global_step, else the number in its name, else 0.
  std::vector<converted_tensor> tensors = {};
  std::vector<left_tensor> left = {};     ///< What has no place in the destination.
};

/// Converts the checkpoint that `from` names (a directory, a prefix, a manifest, an .index or a .safetensors file) into `to`: a
/// directory, which is created, or a .safetensors file. not_found; invalid_argument: a source that is none of these, an empty
/// destination, a beta outside [0, 1), a `like` that is none of TensorFlow's or for another destination; failed_precondition: the
/// destination has a checkpoint already, or the file exists; data_loss naming file, tensor and offset; type: a source that has no tensor
/// that the destination could hold. On error the destination is as it was, but for an empty directory.
TROUPE_API expected<conversion_report> convert_checkpoint(const std::string& from, const std::string& to, const convert_options& options = {});

/// Lines for people; they may change.
TROUPE_API std::string to_text(const conversion_report& r);
/// One JSON object.
TROUPE_API std::string to_json(const conversion_report& r);

}  // namespace troupe
