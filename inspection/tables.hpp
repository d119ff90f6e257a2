// Text for people: tables, counts, damages.
#pragma once

#include "words/text.hpp"

#include <troupe/checkpoints.hpp>

namespace troupe {

/// Rows of cells, each column as wide as its widest cell; columns named in `right` are right-aligned.
std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view indent,
                  const std::vector<size_t>& right = {});
/// A number of bytes as text: "1234 bytes", "12.3 MB".
std::string bytes_text(int64_t bytes);
/// "1 file", "2 files".
std::string counted(int64_t count, const std::string& one);
std::string counted(int64_t count, const std::string& one, const std::string& many);
/// Extents as text: "[3, 5]".
std::string shape_text(const std::vector<int64_t>& extents);
/// The shortest text that reads back as the same float32.
std::string number_text(double value);
/// One line for each damage: file, tensor, offset, reason.
std::string damages_text(const std::vector<damage>& damages, std::string_view indent);
/// "damaged"; "not readable" if nothing worse is known; empty if there is no damage.
std::string state_text(const std::vector<damage>& damages);

}  // namespace troupe
