#include "words/guarded.hpp"

#include <troupe/batch_feed.hpp>

namespace troupe {

void feed_from(coordinator& together, batch_feed feed, const std::string& name,
               const std::function<expected<std::optional<example_tensors>>()>& next) {
  const auto here = together.enlist_until_end(name);
  const auto ended = together.at_end([feed]() mutable { feed.cancel(); });
  for (;;) {
    const auto openings = feed.openings();
    auto batch = guarded("the feeder '" + name + "'", next);
    const bool more = batch && batch->has_value();
    const auto fed = more ? feed.put(std::move(**batch)) : expected<void>{};
    if (more && fed)
      continue;
    // That the feed takes no more is the doing of somebody else, who has said why.
    const bool told = more && fed.error().category == errc::cancelled;
    const auto* const cause = !batch ? &batch.error() : more && !told ? &fed.error() : nullptr;
    if (!cause || together.is_clean(cause->category))
      return feed.close();
    // The stop comes first: who finds a read cancelled then finds its cause.
    if (!batch && together.is_passing(cause->category) && together.request_stop(*cause)) {
      if (feed.await_opening(openings))
        continue;
      return feed.close();
    }
    feed.fail(*cause);
    static_cast<void>(together.request_stop(*cause));
    return feed.close();
  }
}

}  // namespace troupe
