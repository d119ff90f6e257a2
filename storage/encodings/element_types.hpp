// The element types of files: what TensorFlow and safetensors call them, and which of them are dtypes of ours. A type that is none
// of ours can be shown, copied from one file to another and nothing else.
#pragma once

#include <troupe/tensor.hpp>

#include <optional>

namespace troupe {

struct element_type {
  std::string_view name;         ///< That of our dtype, else TensorFlow's: "float32", "boolean", "float16", "string".
  int32_t tensorflow = 0;        ///< Its number in DataType; 0: TensorFlow has none.
  std::string_view safetensors;  ///< "F32"; empty: safetensors has none.
  int32_t bytes = 0;             ///< Of one element; 0: elements have no fixed size, or cannot be read.
  std::optional<dtype> ours = {};
};

/// Null for a type that is not listed.
const element_type* element_type_of_tensorflow(int32_t number) noexcept;
const element_type* element_type_of_safetensors(std::string_view name) noexcept;
const element_type& element_type_of(dtype type) noexcept;

}  // namespace troupe
