// Checks and repairs UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// The length of the character at the beginning of `bytes`, well-formed by Unicode 15, table 3-7: no overlong forms, no surrogates, nothing
/// above U+10FFFF. 0: there is none.
size_t utf8_length(std::string_view bytes) noexcept;
/// Such characters and nothing else.
bool is_utf8(std::string_view bytes) noexcept;
/// `bytes`, with U+FFFD in place of each byte that belongs to no character: to display file names of any encoding.
std::string as_utf8(std::string_view bytes);

}  // namespace troupe
