// Whether bytes are text.
#pragma once

#include <string_view>

namespace troupe {

/// Well-formed as Unicode 15, table 3-7, has it: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view bytes) noexcept;

}  // namespace troupe
