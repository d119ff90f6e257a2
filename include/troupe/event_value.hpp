// Values of event files that are no summaries of ours: those of TensorFlow's and torch's writers that no kind of summary fits, and
// what plugins of TensorBoard keep.
// Not needed to begin with.
#pragma once

#include <troupe/tensor.hpp>

namespace troupe {

struct event_value {
  /// texts: several, none, or one of another shape than [1]; tensor: numbers that are neither a scalar nor a histogram; opaque:
  /// what only its reader understands, such as a JPEG, a sound or the bytes of a plugin.
  enum class form : uint8_t { texts, tensor, opaque };
  form as = form::opaque;
  std::string tag = {};
  std::string plugin = {};                 ///< TensorBoard's, which shows it; empty: the file names none.
  std::vector<std::string> texts = {};     ///< texts: UTF-8, row by row.
  shape dims = {};                         ///< texts: their shape.
  tensor numbers = {};                     ///< tensor: in the dtype that holds those of the file.
  std::string text = {};                   ///< opaque: what it is, in words.
  std::string data = {};                   ///< opaque: the bytes that the plugin keeps beside it.
};
/// "texts", "tensor", "other"
TROUPE_API std::string_view to_string(event_value::form f) noexcept;

}  // namespace troupe
