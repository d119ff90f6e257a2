// Whether bytes are text, and text of bytes that are not.
#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// Well-formed as Unicode 15, table 3-7, has it: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view bytes) noexcept;
/// `bytes`, with U+FFFD in place of each byte that belongs to no character: to show what the file system calls a file.
std::string as_utf8(std::string_view bytes);

}  // namespace troupe
