// How deep JSON from outside may nest. Parsers and what they build are taken apart by recursion here and there, and a stack
// that is too small is no error that could be returned.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// Of our own files; a manifest has 3.
inline constexpr int json_depth_max = 64;

/// Where `text` first opens more lists and objects than `depth_max` within each other; absent when it does not. What is no
/// JSON is left to the parser.
std::optional<size_t> too_deep_at(std::string_view text, int depth_max = json_depth_max) noexcept;

/// "nests deeper than 64 at byte 4711"
std::string too_deep_text(size_t at);

}  // namespace troupe
