// Makes the nodes for the methods of `dataset`: one function for each transformation, in the file of its name.
//
// The functions return nodes, never errors: an invalid stage becomes a refused node.
#pragma once

#include "input/streams/indexed_node.hpp"
#include "input/streams/refused.hpp"

namespace troupe::input {

using change_function = std::function<expected<example_tensors>(const example_tensors&)>;
node_ptr map(node_ptr inner, const std::string& name, change_function function, std::optional<element_spec> becomes);
node_ptr shuffle(node_ptr inner, std::optional<uint64_t> seed);
node_ptr batch(node_ptr inner, int64_t size, std::optional<bool> drop_remainder);
node_ptr repeat(node_ptr inner, std::optional<int64_t> epochs);
node_ptr take(node_ptr inner, int64_t count);
node_ptr skip(node_ptr inner, int64_t count);
node_ptr window(node_ptr inner, int64_t size, int64_t shift);

}  // namespace troupe::input
