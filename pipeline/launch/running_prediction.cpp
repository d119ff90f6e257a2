#include "pipeline/launch/launcher.hpp"

namespace troupe {

expected<std::optional<step_values>> running_prediction::next() {
  // Giving credit wakes a thread, so it is given for half of the batches ahead at once; without batches ahead, for each
  // batch.
  const int64_t wanted = taken_ + 1 + ahead_;
  if (asked_ <= taken_ || wanted - asked_ > ahead_ / 2)
    ask(asked_ = wanted);
  auto there = queue_->take();
  while (!there) {
    if (!wait())
      queue_->ended(error{errc::deadline_exceeded, "the predictor did not answer in time"});
    there = queue_->take();
  }
  if (*there && **there)
    ++taken_;
  return *there;
}

}  // namespace troupe
