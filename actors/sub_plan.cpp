#include "actors/sub_plan.hpp"

#include "actors/connections.hpp"
#include "actors/node_reports.hpp"

#include <caf/local_actor.hpp>
#include <caf/send.hpp>

#include <array>

namespace troupe {

namespace {

constexpr std::array roles{role::infeed, role::replica, role::outfeed};

}  // namespace

sub_plan::sub_plan(caf::local_actor& driver, driven_nodes of)
  : driver_(&driver), of_(std::move(of)), agents_(driver, of_) {}

/// Sends in the name of the driver, so that these messages and those that connect the nodes arrive in order.
template <role R, class M>
void sub_plan::tell_all(const M& message) const {
  for (const auto& node : nodes_.all<R>())
    caf::send_as(caf::actor_cast<caf::actor>(driver_), node, message);
}

void sub_plan::start(int32_t attempt) {
  attempt_ = attempt;
  if (nodes_.empty())
    nodes_ = roster{members_of(*of_.plan, of_.driver)};
  std::vector<node_id> missing;
  for (const auto& m : nodes_.members())
    if (!m.handle)
      missing.push_back(m.id);
  agents_.start(attempt, *of_.plan, missing);
}

bool sub_plan::on(const started& x) {
  if (!agents_.on(x, nodes_) || agents_.awaited())
    return false;
  neighbourhood{*driver_, *of_.plan, nodes_}.connect(agents_.newcomers());
  return true;
}

void sub_plan::begin_attempt() const {
  const begin news{attempt_, 0, {}};
  tell_all<role::outfeed>(news);
  tell_all<role::replica>(news);
  tell_all<role::infeed>(news);
}

void sub_plan::grant(int64_t until) const {
  tell_all<role::infeed>(run{attempt_, until, {}});
  tell_all<role::replica>(run{attempt_, until, {}});
}

void sub_plan::ask(uint64_t number) const {
  tell_all<role::infeed>(probe{number});
  tell_all<role::replica>(probe{number});
  tell_all<role::outfeed>(probe{number});
}

std::vector<std::string> sub_plan::ask_on(uint64_t number, standing_sink_actor asker) {
  report_ = number;
  report_to_ = std::move(asker);
  ask_for_reports(*driver_, nodes_, reporting_);
  return reporting_.asked();
}

void sub_plan::pass_on(const standing& x) {
  const bool is_of_report = reporting_.pending() && x.number == reporting_.number();
  reporting_.on(x);
  if (!is_of_report)
    return;
  auto passed = x;
  passed.number = report_;
  caf::send_as(caf::actor_cast<caf::actor>(driver_), report_to_, std::move(passed));
}

std::vector<std::string> sub_plan::names() const {
  std::vector<std::string> all;
  for (const auto what : roles)
    for (auto& name : nodes_.names(what))
      all.push_back(std::move(name));
  return all;
}

void sub_plan::halt() {
  for (const auto& m : nodes_.members())
    if (m.what == role::replica && m.handle)
      halting_.insert(m.id);
  tell_all<role::replica>(troupe::halt{attempt_});
}

void sub_plan::on(const halted& x) {
  if (x.attempt == attempt_)
    halting_.erase(x.who);
}

void sub_plan::lost(const caf::actor_addr& node) {
  if (const auto* m = nodes_.find(node)) {
    halting_.erase(m->id);
    nodes_.ended(m->id);
  }
}

void sub_plan::end_nodes() {
  std::vector<node_id> all;
  for (const auto what : roles)
    for (const auto& m : nodes_.members())
      if (m.what == what)
        all.push_back(m.id);
  for (const auto id : halting_)
    if (const auto* m = nodes_.find(id); m && m->handle)
      stragglers_.emplace(caf::actor_cast<caf::actor_addr>(m->handle), m->name);
  agents_.give_up();
  if (!all.empty())
    agents_.end(all);
  for (const auto& m : nodes_.members())
    reporting_.forget(m.name);
  nodes_ = {};
  halting_.clear();
}

}  // namespace troupe
