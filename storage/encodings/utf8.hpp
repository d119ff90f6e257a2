// Checks and repairs UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// The length of the character at the beginning of `bytes`; 0 if there is no well-formed one. Well-formed means Unicode
/// 15, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF.
size_t utf8_length(std::string_view bytes) noexcept;
/// Whether `bytes` consist only of such characters.
bool is_utf8(std::string_view bytes) noexcept;
/// `bytes`, with U+FFFD in place of each byte that is not part of a character. For showing file names of any encoding.
std::string as_utf8(std::string_view bytes);

}  // namespace troupe
