// Makes the nodes for the methods of `dataset`: one function for each transformation, in the file of its name.
//
// The functions return nodes, never errors: an invalid stage becomes a refused node.
#pragma once

#include "input/streams/refused.hpp"
#include "input/streams/row_stage.hpp"

namespace troupe::input {

using change_function = std::function<expected<example_tensors>(const example_tensors&)>;
stage_ptr map(stage_ptr inner, const std::string& name, change_function function, std::optional<element_spec> becomes);
stage_ptr shuffle(stage_ptr inner, std::optional<uint64_t> seed);
stage_ptr batch(stage_ptr inner, int64_t size, std::optional<bool> drop_remainder);
stage_ptr repeat(stage_ptr inner, std::optional<int64_t> epochs);
stage_ptr take(stage_ptr inner, int64_t count);
stage_ptr skip(stage_ptr inner, int64_t count);
stage_ptr shard(stage_ptr inner, int64_t count, int64_t index);
stage_ptr window(stage_ptr inner, int64_t size, int64_t shift);
stage_ptr streams(stage_ptr inner, int64_t n, std::string begins);

}  // namespace troupe::input
