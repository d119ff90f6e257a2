// What a replica sends about its steps: reports, credit, and its end.
#include "actors/steps/replica.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

void replica_state::stop_at(step_status status, error cause) {
  ended = true;
  const auto kind = end_kind_of(status, options.ends_where_not_finite);
  send_exposed();
  if (kind != end_kind::failed)
    end_exposed(cause, kind);
  if (kind != end_kind::failed && options.mode == mode::train)
    lend();  // The end of the data, or a stop, acts as a snapshot mark that could not be placed in advance.
  send_report();
  said = stream_end{attempt, options.id, step, std::move(cause), kind};
  self->send(peers.outfeed, *said);
  serve_readings();
}

void replica_state::send_report() {
  if (pending.losses.empty() && pending.watched.empty() && pending.told.empty())
    return;
  pending.attempt = attempt;
  pending.replica = options.id;
  if (!pending.losses.empty()) {
    pending.seconds = std::chrono::duration<double>(self->clock().now() - pending_since).count();
    seconds_per_step = pending.seconds / static_cast<double>(pending.losses.size());
  }
  if (const auto half = pending.losses.size() / 2; planted(planted_fault::report_overtakes) && half > 0) {
    step_report later{.attempt = attempt, .replica = options.id, .step = pending.step + static_cast<int64_t>(half)};
    later.losses.assign(pending.losses.begin() + static_cast<std::ptrdiff_t>(half), pending.losses.end());
    self->send(peers.outfeed, std::move(later));
    pending.losses.resize(half);
  }
  self->send(peers.outfeed, std::move(pending));
  pending = {};
  pending_since = self->clock().now();  // A step may be under way.
}

void replica_state::give_credit(credit_rule when) {
  // A step too short to be measured may have any length, so the block doubles; so it does for a replica of an
  // evaluation to which no batch was dealt. It has at least one batch.
  constexpr int64_t block_steps_max = int64_t{1} << 20;
  const auto most = static_cast<double>(std::min(block_steps * 2, block_steps_max));
  const double wanted = seconds_per_step > 0 ? options.block_seconds / seconds_per_step : most;
  block_steps = static_cast<int64_t>(std::clamp(wanted, 1.0, most));
  for (size_t i = 0; i < ports.size(); ++i) {
    auto& p = ports[i];
    const auto& limits = options.in_edges[i];
    if (p.batch_bytes > 0)
      block_steps = std::clamp(limits.block_bytes_max / std::max<int64_t>(p.batch_bytes, 1), int64_t{1}, block_steps);
    const int64_t until_step = step + limits.credit_blocks * block_steps;
    const bool leaves_later = limits.until_retired && !p.has_left(step);
    // A source waits for room for a whole block: it has to know of a smaller one. Credit is for several blocks, so that
    // there is room for one of less than twice the size; and of halves there are few, whatever times do.
    const bool is_news = until_step > p.granted || block_steps <= p.told_steps / 2 || when != credit_rule::if_grown;
    if (!p.source || (p.left_at && !leaves_later) || !is_news)
      continue;
    p.granted = std::max(p.granted, until_step);
    p.told_steps = block_steps;
    self->send(p.source, pull{attempt, p.edge, p.granted, step, block_steps});
  }
}

}  // namespace troupe
