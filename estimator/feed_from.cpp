#include "words/guarded.hpp"

#include <troupe/batch_feed.hpp>

namespace troupe {

void feed_from(coordinator& together, batch_feed feed, const std::string& name,
               const std::function<expected<std::optional<example_tensors>>()>& next) {
  const auto here = together.enlist(name);
  const auto stopped = together.at_stop([feed]() mutable { feed.cancel(); });
  for (;;) {
    auto batch = guarded("the feeder '" + name + "'", next);
    const bool more = batch && batch->has_value();
    const auto fed = more ? feed.put(std::move(**batch)) : expected<void>{};
    if (more && fed)
      continue;
    // That the feed takes no more is the doing of somebody else, who has said why.
    const bool told = more && fed.error().category == errc::cancelled;
    const auto* const cause = !batch ? &batch.error() : more && !told ? &fed.error() : nullptr;
    if (cause && !together.is_clean(cause->category)) {
      feed.fail(*cause);
      static_cast<void>(together.request_stop(*cause));
    }
    return feed.close();
  }
}

}  // namespace troupe
