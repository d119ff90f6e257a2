// Exported models: a model's predict graph with its weights, read from a directory and run without the code that made it.
// Not needed to begin with.
//
//   auto served = tr::exported_model::open("runs/fashion/export/latest/1795417474");
//   auto call = served->caller();
//   auto y = call->call({{"image", images}});                          // images: float32 [rows, 28, 28]
//   use(y->at("class_ids").as<int64_t>());
//
//   auto predictions = tr::predict({served->as_model()}, {.input = data.batch(500)});       // as any other model, through a job
//
// An exported model is a cheap value: copies share all that was read, which stays in memory as long as one of them lives. It never changes,
// and any thread may use it. docs/export_format.md describes the files; exporter.hpp writes them.
#pragma once

#include <troupe/dataset.hpp>
#include <troupe/heads.hpp>

namespace troupe {

/// One way to call an exported model. Extents without the batch, which is the first axis of each.
struct export_signature {
  std::vector<component> inputs = {};   ///< By name, as callers order them.
  std::vector<component> outputs = {};
};

struct caller_options {
  std::string signature = "serving_default";
  /// The numbers of rows for which the caller has a program, ascending. A call is divided into them; the rest is computed with rows repeated,
  /// or one by one, whatever is less. With 0 of them, or in a model whose rows are not computed apart from each other, each number of rows gets
  /// a program of its own at its first call, and eight are kept.
  std::vector<int64_t> rows = {1, 8, 64};
};

/// Calls an exported model: without actors, in the caller's thread. Used by one thread at a time. Copies share the weights and have programs of
/// their own; a copy whose programs find no memory says so at its first call.
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
  /// Whether row i of each output depends on row i of the inputs alone, so that rows of different callers may share a call. Found from the
  /// operations: false where that is not certain.
  bool rows_are_apart() const noexcept;

  // Each call has the bits that a prediction job has for these rows. It allocates nothing but its result, and nothing at all where the result
  // has a place, unless the number of rows is a new one for a caller that has a program for each. Errors: invalid_argument for inputs that do not
  // fit, naming them, and for indices out of range; resource_exhausted.

  /// A tensor [rows, ...] for each input; returns one for each output. invalid_argument too where there is no input: the call with `rows` says
  /// how many rows there are.
  expected<std::vector<tensor>> call(std::span<const tensor> inputs);
  /// The same by name: each input, and no other. invalid_argument names what is missing or unknown.
  expected<std::map<std::string, tensor>> call(const std::map<std::string, tensor>& inputs);
  /// The same without tensors: `rows` rows of each input, and as much room for each output. Inputs need no alignment but that of their elements.
  expected<void> call(int64_t rows, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs);

  struct impl;
  explicit model_caller(std::unique_ptr<impl> i);

 private:
  std::unique_ptr<impl> impl_;
};

/// Makes the spec of a head from the options, which hold mode, logits and labels.
using exported_head = std::function<model_spec(graph& g, const head_spec_options& options)>;

class TROUPE_API exported_model {
 public:
  /// Reads the directory of one export and checks all of it: not_found (there is none), data_loss (a file is missing, or differs from the
  /// manifest by a byte; a node, a shape or a signature that cannot be), unimplemented (a later version wrote it, or it has an operation that
  /// this program does not know). Each names the file, and the node where there is one.
  static expected<exported_model> open(const std::string& directory);

  const std::string& path() const noexcept;
  /// The name of the model that was exported, the step of its checkpoint, and that checkpoint's prefix then.
  const std::string& name() const noexcept;
  int64_t global_step() const noexcept;
  const std::string& checkpoint() const noexcept;
  /// The metrics of the evaluation that led to the export; empty: none did.
  const std::map<std::string, double>& evaluation() const noexcept;
  /// That it has format version 1, which had no manifest: a changed byte of its JSON files may go unnoticed. Else empty.
  const std::string& remark() const noexcept;

  /// By name; "serving_default" is always there.
  const std::map<std::string, export_signature>& signatures() const noexcept;
  /// Predictions as words, and the words of labels, by name.
  const std::map<std::string, text_prediction>& texts() const noexcept;
  const std::map<std::string, std::vector<std::string>>& label_words() const noexcept;

  /// A model that predicts, and that can be inspected; its variables begin with the exported ones, so that it needs no checkpoint. It takes its
  /// features by the names of the signature's inputs; one of another dtype or shape is an error of the graph. invalid_argument as such an error for a
  /// signature that is not there, and for training or evaluating.
  model as_model(const std::string& signature = "serving_default") const;
  /// The same, which also evaluates: with `head` over the exported logits. These are the prediction "logits", or what the softmax of
  /// "probabilities" was taken of, or "predictions".
  model as_model(const exported_head& head) const;
  /// Any head with a `spec(graph&, const head_spec_options&)`.
  template <class Head>
    requires requires(const Head& head, graph& g, const head_spec_options& options) { head.spec(g, options); }
  model as_model(const Head& head) const {
    return as_model(exported_head{[head](graph& g, const head_spec_options& options) { return head.spec(g, options); }});
  }

  /// invalid_argument: a signature that is not there, naming those that are; numbers of rows that are not ascending from 1; an output without a
  /// row for each example. resource_exhausted.
  expected<model_caller> caller(const caller_options& options = {}) const;

  struct impl;
  explicit exported_model(std::shared_ptr<const impl> i);
  const impl& internals() const noexcept { return *impl_; }

 private:
  std::shared_ptr<const impl> impl_;
};

/// The exports below a directory: "<base>/1795417474", ..., oldest first; empty where there is none. not_found is no error.
TROUPE_API expected<std::vector<std::string>> list_exports(const std::string& base);

}  // namespace troupe
