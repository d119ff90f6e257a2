#include "storage/checkpoints/best_in_use.hpp"

#include "words/book_properties.hpp"

namespace troupe {

std::optional<checkpoint_id> best_in_use(const checkpoint_store& checkpoints) {
  const auto newest = checkpoints.inspect_newest();
  if (!newest)
    return std::nullopt;
  const auto text = [&newest](std::string_view name) {
    const auto found = newest->properties.find(std::string{name});
    return found == newest->properties.end() ? std::string{} : found->second;
  };
  return text(use_best_property) == "true" ? parse_checkpoint_id(text(best_property)) : std::nullopt;
}

}  // namespace troupe
