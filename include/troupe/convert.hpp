// Converts checkpoints between Troupe, TensorFlow (V2) and safetensors.
// Not needed to begin with.
//
//   auto done = tr::convert_checkpoint("runs/estimator", "runs/mine");  // The newest checkpoint of an Estimator.
//   if (done) std::cout << tr::to_text(*done);                          // What was converted, what was not, and why.
//
// A job resumes from a converted checkpoint if its variables have the same names, shapes and dtypes: ready-made models
// have the Estimator's names, and slots have those of TensorFlow 1.x. Its data start from the beginning. Tensors keep
// their bits. The source is not changed, and nothing is overwritten. Any thread may call; two calls at once need two
// destinations.
#pragma once

#include <troupe/tensor.hpp>

#include <optional>

namespace troupe {

enum class checkpoint_format : uint8_t {
  troupe,       ///< A model directory with one checkpoint, from which a job resumes.
  tensorflow,   ///< A directory with `model.ckpt-<step>.index`, its data file, and the state file that lists it.
  safetensors,  ///< A file with all tensors.
};
TROUPE_API std::string_view to_string(checkpoint_format f) noexcept;

struct convert_options {
  /// The destination's format. Absent: safetensors if `to` ends in .safetensors, else troupe if the source is a
  /// TensorFlow checkpoint, else tensorflow.
  std::optional<checkpoint_format> format = {};
  std::optional<int64_t> step = {};  ///< Which checkpoint of a directory; absent: the newest.
  /// To TensorFlow: a TensorFlow checkpoint whose names are used where they differ from Troupe's, so that the program
  /// that wrote it can resume. The Estimator's slots, for example, are called "w/t_0/Adam".
  std::optional<std::string> like = {};
  double beta1 = 0.9;    ///< To TensorFlow, for slots of Adam or AdaMax: its optimizers store the powers
  double beta2 = 0.999;  ///<   beta^(step + 1) as variables; Troupe's compute them.
};

struct converted_tensor {
  std::string name;       ///< Its name in the destination.
  std::string from = {};  ///< Its name in the source, if different. Empty too if `made`.
  std::string dtype;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
  bool made = false;  ///< Not from the source: a power of beta, or a global_step of 0.
};
/// A tensor that was not converted.
struct left_tensor {
  std::string name;
  std::string reason;
};
struct conversion_result {
  std::string from, to;  ///< Prefixes of checkpoints, or paths of files.
  checkpoint_format from_format = checkpoint_format::troupe, to_format = checkpoint_format::troupe;
  int64_t step = 0;  ///< The source's global_step, else the number in its name, else 0.
  std::vector<converted_tensor> tensors = {};
  std::vector<left_tensor> left = {};  ///< Tensors that the destination cannot hold.
};

/// Converts the checkpoint at `from` (a directory, prefix, manifest, .index or .safetensors file) to `to`: a directory,
/// which is created, or a .safetensors file. On an error the destination is unchanged, except that an empty directory
/// may remain. not_found; invalid_argument: a source that is none of these, an empty destination, a beta outside [0,
/// 1), a `like` that is no TensorFlow checkpoint or given for another format; failed_precondition: the destination has
/// a checkpoint, or the file exists; data_loss naming file, tensor and offset; type: the destination can hold no tensor
/// of the source.
TROUPE_API expected<conversion_result> convert_checkpoint(const std::string& from, const std::string& to,
                                                          const convert_options& options = {});

/// Text for people. Its form may change.
TROUPE_API std::string to_text(const conversion_result& r);
/// One JSON object.
TROUPE_API std::string to_json(const conversion_result& r);

}  // namespace troupe
