// Examples made by functions of the user's: of an index, or one after the other.
#pragma once

#include <troupe/dataset.hpp>

namespace troupe::input {

/// `dataset::from_generator` of an index.
expected<dataset> indexed_generator(std::string name, element_spec spec, int64_t count,
                                    std::function<expected<example_tensors>(int64_t)> make);
/// The same of a stream.
expected<dataset> streamed_generator(std::string name, element_spec spec, std::function<expected<example_stream>()> open);

}  // namespace troupe::input
