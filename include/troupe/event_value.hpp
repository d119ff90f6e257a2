// Values in event files that are not summaries (summary.hpp): from writers of TensorFlow and torch, and plugins' data.
// Not needed to begin with.
#pragma once

#include <troupe/tensor.hpp>

namespace troupe {

struct event_value {
  /// texts: any number of texts, except one of shape [1]; tensor: numbers that are neither a scalar nor a histogram;
  /// opaque: bytes in a format of their own, such as a JPEG, a sound or the data of a plugin.
  enum class form : uint8_t { texts, tensor, opaque };
  form as = form::opaque;
  std::string tag = {};
  std::string plugin = {};              ///< The TensorBoard plugin that shows the value; empty: the file names none.
  std::vector<std::string> texts = {};  ///< Of texts: UTF-8, row by row.
  shape dims = {};                      ///< Of texts: their shape.
  tensor numbers = {};                  ///< Of tensor: in a dtype that holds the file's.
  std::string text = {};                ///< Of opaque: a description in words.
  std::string data = {};                ///< Of opaque: the bytes that the plugin stores with the value.
};
/// "texts", "tensor", "other"
TROUPE_API std::string_view to_string(event_value::form f) noexcept;

}  // namespace troupe
