// JSON files that end in a checksum of themselves: the last member of their object, eight hexadecimal digits, taken over the
// whole text with zeros in its place.
#pragma once

#include <troupe/error.hpp>

namespace troupe {

/// What stands for the checksum until `seal` has taken it.
inline constexpr std::string_view unsealed = "00000000";

/// Puts the checksum into a text whose last line but one is ` "<member>": "00000000"`.
std::string seal(std::string text);

/// Verifies the checksum, and sets it to zeros. data_loss, with the reason alone: it does not end in `member`, or differs.
expected<void> unseal(std::string& text, std::string_view member);

}  // namespace troupe
