// Converts bytes to and from base64 (RFC 4648, with padding), for JSON files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe {

std::string to_base64(std::string_view bytes);
/// Absent if `to_base64` does not produce this text.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace troupe
