// Limits the nesting depth of JSON from outside. Parsers, and the destructors of what they build, recurse in places,
// and a stack overflow cannot be returned as an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// Limit for our own files; a manifest has 3.
inline constexpr int json_depth_max = 64;

/// Where `text` first nests more than `depth_max` lists and objects; absent when it does not. Invalid JSON is left to
/// the parser.
std::optional<size_t> too_deep_at(std::string_view text, int depth_max = json_depth_max) noexcept;

/// "nests deeper than 64 at byte 4711"
std::string too_deep_text(size_t at);

}  // namespace troupe
