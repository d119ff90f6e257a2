// What a server needs of a model: how it is called, and calls. Whatever has these can be served; exported_servable.hpp makes one of
// an exported model.
#pragma once

#include <troupe/dataset.hpp>

#include <map>
#include <memory>
#include <span>

namespace troupe {

/// An output as words: word i of `words` wherever the integer output number `of` is i.
struct served_words {
  std::string name = {};
  size_t of = 0;
  std::vector<std::string> words = {};
};

/// One way to call a model. Extents are those of one row.
struct served_signature {
  std::vector<component> inputs = {};
  std::vector<component> outputs = {};
  std::vector<served_words> words = {};
  bool rows_apart = true;  ///< Row i of the outputs depends on row i of the inputs alone; otherwise each request is computed alone.
};
using served_signatures = std::map<std::string, served_signature>;  ///< By name.

/// Calls one signature; used by one thread at a time.
class servable_caller {
 public:
  virtual ~servable_caller() = default;
  /// A tensor [rows, ...] for each input, and one for each output, in the order of the signature. invalid_argument, resource_exhausted.
  virtual expected<std::vector<tensor>> call(std::span<const tensor> inputs) = 0;
};

/// A model at one version. Never changes; any thread.
class servable {
 public:
  virtual ~servable() = default;
  virtual const served_signatures& signatures() const noexcept = 0;
  /// What whoever begins to serve it is to be warned of; empty: nothing.
  virtual std::string remark() const { return {}; }
  /// `signature` is one of the above. The caller keeps what it needs of the model.
  virtual expected<std::unique_ptr<servable_caller>> caller(const std::string& signature) const = 0;
};

}  // namespace troupe
