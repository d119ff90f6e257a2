// The positions of streamed stages as text: one line each, "<stage>: <a> <b>", then the position of the inner stage.
#pragma once

#include <troupe/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::input {

/// What the two numbers count, each stage says.
struct stage_position {
  int64_t a = 0;
  int64_t b = 0;
};

std::string packed(const std::string& stage, stage_position at, const std::string& inner);
/// Parses the first line of `state`. Afterwards `state` is the position of the inner stage.
/// Errors: invalid_argument if another stage saved it, or its numbers are not two counts.
expected<stage_position> unpacked(const std::string& stage, std::string_view& state);

}  // namespace troupe::input
