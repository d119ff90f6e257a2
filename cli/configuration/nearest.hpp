// "Did you mean ...?": the known name that is most similar to an unknown one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::cli {

/// The number of insertions, deletions, substitutions and swaps of neighbours that turn one into the other (optimal
/// string alignment).
size_t edit_distance(std::string_view a, std::string_view b);

/// The known name with the smallest distance, the first of several; nothing if even that name has little in common with
/// `name`.
std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& known);

/// "; did you mean X?", or an empty text.
std::string did_you_mean(const std::optional<std::string>& name);

}  // namespace troupe::cli
