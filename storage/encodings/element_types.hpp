// The element types of files, with their names in TensorFlow and safetensors and their `dtype`, if Troupe has one.
// Elements of other types can only be shown, or copied from one file to another.
#pragma once

#include <troupe/tensor.hpp>

#include <optional>

namespace troupe {

struct element_type {
  std::string_view name;   ///< The name of our dtype, else TensorFlow's: "float32", "boolean", "float16", "string".
  int32_t tensorflow = 0;  ///< Its number in TensorFlow's DataType; 0: TensorFlow does not have the type.
  std::string_view safetensors;  ///< "F32"; empty: safetensors does not have the type.
  int32_t bytes = 0;             ///< Size of one element; 0: elements have no fixed size, or cannot be read.
  std::optional<dtype> ours = {};
};

/// Null for a type that is not in the table.
const element_type* element_type_of_tensorflow(int32_t number) noexcept;
const element_type* element_type_of_safetensors(std::string_view name) noexcept;
const element_type& element_type_of(dtype type) noexcept;

}  // namespace troupe
