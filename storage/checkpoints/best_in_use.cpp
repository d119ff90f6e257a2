#include "storage/checkpoints/best_in_use.hpp"

#include "words/checkpoint_books.hpp"

namespace troupe {

std::optional<checkpoint_id> best_in_use(const checkpoint_store& checkpoints) {
  const auto newest = checkpoints.inspect_newest();
  if (!newest)
    return std::nullopt;
  const auto best = read_books(newest->properties).best;
  return best && best->in_use ? std::optional{best->id} : std::nullopt;
}

}  // namespace troupe
