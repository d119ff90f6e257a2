// How wide the vectors are that products and convolutions are computed with: chosen once a process, the same bits either way.
#pragma once

#include <troupe/error.hpp>

#include <string_view>

namespace troupe {

enum class vector_level : uint8_t { baseline, avx2, avx512 };
std::string_view to_string(vector_level level) noexcept;

/// The widest that both this build and the processor have.
vector_level widest_vectors() noexcept;

/// What `wish` names, "avx2" or "avx512"; `widest` where it is empty. invalid_argument: it names no level; failed_precondition: one
/// wider than `widest`.
expected<vector_level> vectors_for(std::string_view wish, vector_level widest);

/// That of this process: the environment variable TROUPE_VECTORS is the wish, by which tests run every level on one machine. Read
/// once; planning a program fails with this error.
const expected<vector_level>& chosen_vectors();

/// Whether kernels run those compiled for AVX-512.
bool uses_avx512() noexcept;

}  // namespace troupe
