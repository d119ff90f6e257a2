#include "actors/sub_plan.hpp"

#include <caf/local_actor.hpp>
#include <caf/send.hpp>

namespace troupe {

void sub_plan::start(caf::local_actor& driver, const progress_sink_actor& progress, crew& nodes) {
  drain = nodes.start_outfeed(progress, {});
  worker = nodes.start_replica(0, {drain, {}, {}});
  source = nodes.start_infeed(0, {}, {});
  for (const auto& [edge, to] : nodes.edges_of(0)) {
    caf::anon_send(source, connect{edge, caf::actor_cast<caf::strong_actor_ptr>(worker)});
    caf::anon_send(worker, connect{edge, caf::actor_cast<caf::strong_actor_ptr>(source)});
  }
  driver.monitor(drain);
  driver.monitor(worker);
  driver.monitor(source);
}

void sub_plan::begin_attempt(int32_t attempt) const {
  caf::anon_send(drain, begin{attempt, 0, {}});
  caf::anon_send(worker, begin{attempt, 0, {}});  // Before the infeed, whose first word may be that there are no data.
  caf::anon_send(source, begin{attempt, 0, {}});
}

void sub_plan::grant(int32_t attempt, int64_t until) const {
  caf::anon_send(source, run{attempt, until, {}});
  caf::anon_send(worker, run{attempt, until, {}});
}

void sub_plan::ask(caf::local_actor& driver, uint64_t number) const {
  const auto from = caf::actor_cast<standing_sink_actor>(&driver);
  caf::send_as(from, source, probe{number});
  caf::send_as(from, worker, probe{number});
  caf::send_as(from, drain, probe{number});
}

bool sub_plan::has(const caf::actor_addr& node) const {
  const auto is = [&node](const auto& handle) { return handle && handle->address() == node; };
  return is(source) || is(worker) || is(drain);
}

void sub_plan::send_home() {
  const auto home = [](auto& handle) {
    if (handle)
      caf::anon_send_exit(handle, caf::exit_reason::user_shutdown);
    handle = nullptr;
  };
  home(source);
  home(worker);
  home(drain);
}

}  // namespace troupe
