#include "actors/sub_plan.hpp"

#include <caf/local_actor.hpp>
#include <caf/send.hpp>

#include <array>

namespace troupe {

namespace {

constexpr std::array roles{role::infeed, role::replica, role::outfeed};

}  // namespace

template <class Handle, class M>
void sub_plan::tell(const Handle& node, M message) const {
  caf::send_as(caf::actor_cast<caf::actor>(driver_), node, std::move(message));
}

void sub_plan::start(caf::local_actor& driver, std::shared_ptr<crew> from) {
  driver_ = &driver;
  crew_ = std::move(from);
  nodes_ = start_all(*crew_, driver);
}

void sub_plan::begin_attempt(int32_t attempt) const {
  const begin news{attempt, 0, {}};
  for (const auto& drain : nodes_.all<role::outfeed>())
    tell(drain, news);
  for (const auto& worker : nodes_.all<role::replica>())
    tell(worker, news);
  for (const auto& source : nodes_.all<role::infeed>())
    tell(source, news);
}

void sub_plan::grant(int32_t attempt, int64_t until) const {
  for (const auto& source : nodes_.all<role::infeed>())
    tell(source, run{attempt, until, {}});
  for (const auto& worker : nodes_.all<role::replica>())
    tell(worker, run{attempt, until, {}});
}

void sub_plan::ask(caf::local_actor& driver, uint64_t number) const {
  const auto from = caf::actor_cast<standing_sink_actor>(&driver);
  for (const auto& source : nodes_.all<role::infeed>())
    caf::send_as(from, source, probe{number});
  for (const auto& worker : nodes_.all<role::replica>())
    caf::send_as(from, worker, probe{number});
  for (const auto& drain : nodes_.all<role::outfeed>())
    caf::send_as(from, drain, probe{number});
}

std::vector<std::string> sub_plan::names() const {
  std::vector<std::string> all;
  for (const auto what : roles)
    for (auto& name : nodes_.names(what))
      all.push_back(std::move(name));
  return all;
}

void sub_plan::send_home() {
  for (const auto what : roles)
    for (const auto& m : nodes_.members())
      if (m.what == what)
        crew_->end(m.id);
  nodes_ = {};
}

}  // namespace troupe
