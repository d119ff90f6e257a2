// JSON files that end in their own checksum. It is the last member of the object: eight hexadecimal digits, computed
// over the whole text with zeros in place of these digits.
#pragma once

#include <troupe/error.hpp>

namespace troupe {

/// The placeholder for the checksum until `seal` fills it in.
inline constexpr std::string_view unsealed = "00000000";

/// Fills in the checksum. The last line but one of `text` must be ` "<member>": "00000000"`.
std::string seal(std::string text);

/// Verifies the checksum and replaces it with zeros. Error: data_loss, whose message is only the reason: the text does
/// not end in `member`, or the checksum differs.
expected<void> unseal(std::string& text, std::string_view member);

}  // namespace troupe
