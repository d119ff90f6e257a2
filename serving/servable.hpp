// What a server needs of a model: its signatures, and callers for them. Any implementation can be served; the one in
// exported_servable.hpp serves an exported model.
#pragma once

#include <troupe/dataset.hpp>

#include <map>
#include <memory>
#include <span>

namespace troupe {

/// An output as words, made from the integer output number `of`: element i becomes words[i].
struct served_words {
  std::string name = {};
  size_t of = 0;
  std::vector<std::string> words = {};
};

/// One way to call a model. Shapes are those of one row.
struct served_signature {
  std::vector<component> inputs = {};
  std::vector<component> outputs = {};
  std::vector<served_words> words = {};
  /// Row i of the outputs depends on row i of the inputs alone. Otherwise each request is computed by itself.
  bool rows_apart = true;
};
using served_signatures = std::map<std::string, served_signature>;  ///< By name.

/// Calls one signature; used by one thread at a time.
class servable_caller {
 public:
  virtual ~servable_caller() = default;
  /// Takes a tensor [rows, ...] for each input and returns one for each output, in the order of the signature.
  /// invalid_argument, resource_exhausted.
  virtual expected<std::vector<tensor>> call(std::span<const tensor> inputs) = 0;
};

/// One version of a model. Immutable; any thread.
class servable {
 public:
  virtual ~servable() = default;
  virtual const served_signatures& signatures() const noexcept = 0;
  /// A warning for the person who begins to serve the model; empty if there is none.
  virtual std::string remark() const { return {}; }
  /// `signature` is one of `signatures()`. The caller keeps alive what it needs of the model.
  virtual expected<std::unique_ptr<servable_caller>> caller(const std::string& signature) const = 0;
};

}  // namespace troupe
