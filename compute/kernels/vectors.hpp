// The vector width of products and convolutions: chosen once for the process, with the same bits either way.
#pragma once

#include <troupe/error.hpp>

#include <string_view>

namespace troupe {

enum class vector_level : uint8_t { baseline, avx2, avx512 };
std::string_view to_string(vector_level level) noexcept;

/// The widest level that both this build and the processor support.
vector_level widest_vectors() noexcept;

/// The level that `wish` names, "avx2" or "avx512"; `widest` if `wish` is empty. invalid_argument if it names no level;
/// failed_precondition if its level is wider than `widest`.
expected<vector_level> vectors_for(std::string_view wish, vector_level widest);

/// The level of this process. The environment variable TROUPE_VECTORS may name it, which lets tests run every level on
/// one machine. It is read once. If it is not valid, planning a program fails with this error.
const expected<vector_level>& chosen_vectors();

/// Whether the kernels compiled for AVX-512 are used.
bool uses_avx512() noexcept;

}  // namespace troupe
