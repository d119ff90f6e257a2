// Exported models: a model's predict graph with its weights, run without the code that made it.
// Not needed to begin with.
//
//   auto served = tr::exported_model::open("runs/fashion/export/latest/1795417474");
//   auto call = served->caller();
//   auto y = call->call({{"image", images}});                          // images: float32 [rows, 28, 28]
//   use(y->at("class_ids").as<int64_t>());
//
//   auto predictions = tr::predict({served->as_model()}, {.input = data.batch(500)});  // as any model, through a job
//
// An exported model is a cheap, immutable value: copies share everything that was read, which is freed with the last
// one. Any thread may use it. docs/export_format.md describes the files; exporter.hpp writes them.
#pragma once

#include <troupe/dataset.hpp>
#include <troupe/heads.hpp>

namespace troupe {

/// One way to call an exported model. Shapes are those of one row; the batch is the first axis of each tensor.
struct export_signature {
  std::vector<component> inputs = {};  ///< Sorted by name, the order of `model_caller`.
  std::vector<component> outputs = {};
};

struct caller_options {
  std::string signature = "serving_default";
  /// The numbers of rows for which the caller plans a program, ascending. A call is divided into these; what remains is
  /// computed with repeated rows, or row by row, whichever is less work. If the list is empty, or the model's rows
  /// depend on each other, each number of rows gets a program at its first call, and eight are kept.
  std::vector<int64_t> rows = {1, 8, 64};
};

/// Calls an exported model in the caller's thread, without actors. Used by one thread at a time. Copies share the
/// weights and have their own programs; if there is no memory for these, the first call of the copy returns the error.
/// Calls of one that was moved from, and of its copies, are a `state` error.
class TROUPE_API model_caller {
 public:
  model_caller(const model_caller& other);
  model_caller& operator=(const model_caller& other);
  model_caller(model_caller&&) noexcept;
  model_caller& operator=(model_caller&&) noexcept;
  ~model_caller();

  /// The components of one row, in the order in which `call` takes and returns them.
  std::span<const component> inputs() const noexcept;
  std::span<const component> outputs() const noexcept;
  /// Whether row i of each output depends only on row i of the inputs, so that rows of several requests may share a
  /// call. Derived from the operations; false if that is not certain.
  bool rows_are_apart() const noexcept;

  // Each call gives the bits of a prediction job for these rows. It allocates only its result, or nothing if the caller
  // provides the memory, except to plan a program for a new number of rows. Errors: invalid_argument for inputs that do
  // not fit, naming them, and for indices out of range; resource_exhausted.

  /// Takes a tensor [rows, ...] for each input, and returns one for each output. A model without inputs is
  /// invalid_argument; use the call with `rows`.
  expected<std::vector<tensor>> call(std::span<const tensor> inputs);
  /// The same by name, with exactly the inputs of the signature. invalid_argument names missing or unknown ones.
  expected<std::map<std::string, tensor>> call(const std::map<std::string, tensor>& inputs);
  /// The same with memory of the caller: `rows` rows of each input and of each output. Inputs are aligned for their
  /// dtype.
  expected<void> call(int64_t rows, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs);

  struct impl;
  explicit model_caller(std::unique_ptr<impl> i);

 private:
  std::unique_ptr<impl> impl_;
};

/// Makes the spec of a head from options with mode, logits and labels.
using exported_head = std::function<model_spec(graph& g, const head_spec_options& options)>;

/// A model read from an export.
class TROUPE_API exported_model {
 public:
  exported_model(const exported_model&) = default;  // A move is a copy.
  exported_model& operator=(const exported_model&) = default;
  /// Reads the directory of one export and checks every byte. Errors: not_found; data_loss (a file is missing or
  /// differs from the manifest; an invalid node, shape or signature); unimplemented (written by a later version, or an
  /// unknown operation). Each names the file, and the node if there is one.
  static expected<exported_model> open(const std::string& directory);

  const std::string& path() const noexcept;
  /// The name of the exported model, the step of its checkpoint, and the prefix that this checkpoint had.
  const std::string& name() const noexcept;
  int64_t global_step() const noexcept;
  const std::string& checkpoint() const noexcept;
  /// The metrics of the evaluation that led to the export; empty: no evaluation did.
  const std::map<std::string, double>& evaluation() const noexcept;
  /// A warning if the export has format version 1, which had no manifest: changed bytes of its JSON files may remain
  /// undetected. Else empty.
  const std::string& remark() const noexcept;

  /// The signatures by name, always with "serving_default".
  const std::map<std::string, export_signature>& signatures() const noexcept;
  /// The predictions that have words, and the words of labels, by name.
  const std::map<std::string, text_prediction>& texts() const noexcept;
  const std::map<std::string, std::vector<std::string>>& label_words() const noexcept;

  /// A model for prediction jobs and inspection. Its variables start as the exported ones, so it needs no checkpoint.
  /// Its features are the signature's inputs, by name. Errors of its graph: a feature of another dtype or shape;
  /// invalid_argument for an unknown signature, and for training or evaluating.
  model as_model(const std::string& signature = "serving_default") const;
  /// The same for evaluations too, with `head` over the exported logits: the prediction "logits", or the operand of the
  /// softmax that gave "probabilities", or "predictions".
  model as_model(const exported_head& head) const;
  /// The same for any head with a `spec(graph&, const head_spec_options&)`.
  template <class Head>
  requires requires(const Head& head, graph& g, const head_spec_options& options) { head.spec(g, options); }
  model as_model(const Head& head) const {
    return as_model(
        exported_head{[head](graph& g, const head_spec_options& options) { return head.spec(g, options); }});
  }

  /// Plans the programs of a caller. invalid_argument: an unknown signature, naming the existing ones; numbers of rows
  /// that are not ascending or below 1; an output without a row for each example. resource_exhausted.
  expected<model_caller> caller(const caller_options& options = {}) const;

  struct impl;
  explicit exported_model(std::shared_ptr<const impl> i);
  const impl& internals() const noexcept { return *impl_; }

 private:
  std::shared_ptr<const impl> impl_;
};

/// The exports in a directory, "<directory>/1795417474", and below its "export/<name>/", oldest first. Empty if there
/// are none, or no such directory.
TROUPE_API expected<std::vector<std::string>> list_exports(const std::string& directory);

}  // namespace troupe
