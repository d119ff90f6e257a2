// Sources whose examples a user's function makes: from an index, or one after the other.
#pragma once

#include <troupe/dataset.hpp>

namespace troupe::input {

/// Implements `dataset::from_generator` for a function of an index.
expected<dataset> indexed_generator(std::string name, element_spec spec, int64_t count,
                                    std::function<expected<example_tensors>(int64_t)> make);
/// Implements it for a stream.
expected<dataset> streamed_generator(std::string name, element_spec spec,
                                     std::function<expected<example_stream>()> open);

}  // namespace troupe::input
