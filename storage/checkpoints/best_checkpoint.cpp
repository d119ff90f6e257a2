#include "storage/checkpoints/best_checkpoint.hpp"

#include "words/checkpoint_books.hpp"

namespace troupe {

expected<checkpoint_id> best_kept(const checkpoint_store& checkpoints, const std::string& directory) {
  const auto newest = checkpoints.inspect_newest();
  if (!newest)
    return fail(newest.error());
  if (const auto best = read_books(newest->properties).best)
    return best->id;
  return fail(
      errc::not_found,
      directory
          + " has no best checkpoint: its job was not told to keep one (keep_best), or has not evaluated one yet");
}

std::optional<checkpoint_id> best_in_use(const checkpoint_store& checkpoints) {
  const auto newest = checkpoints.inspect_newest();
  if (!newest)
    return std::nullopt;
  const auto best = read_books(newest->properties).best;
  return best && best->in_use ? std::optional{best->id} : std::nullopt;
}

}  // namespace troupe
