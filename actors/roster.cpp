#include "actors/roster.hpp"

#include <algorithm>

namespace troupe {

roster::roster(std::vector<member> members) : members_(std::move(members)) {
  for (size_t i = 0; i < members_.size(); ++i)
    places_.emplace(members_[i].id, i);
}

bool roster::any_alive() const {
  return std::any_of(members_.begin(), members_.end(), [](const member& m) { return m.handle != nullptr; });
}

void roster::started(node_id id, caf::strong_actor_ptr handle) {
  if (const auto at = places_.find(id); at != places_.end())
    members_[at->second].handle = std::move(handle);
}

const member* roster::find(const caf::actor_addr& address) const {
  for (const auto& m : members_)
    if (m.handle && m.handle->get()->address() == address)
      return &m;
  return nullptr;
}

const member* roster::find(node_id id) const {
  const auto at = places_.find(id);
  return at == places_.end() ? nullptr : &members_[at->second];
}

void roster::ended(node_id id) { started(id, nullptr); }

node_id roster::id_of(role what) const {
  const auto m = std::find_if(members_.begin(), members_.end(), [what](const member& x) { return x.what == what; });
  return m == members_.end() ? no_node : m->id;
}

size_t roster::count(role what) const {
  return static_cast<size_t>(
      std::count_if(members_.begin(), members_.end(), [what](const member& m) { return m.what == what; }));
}

size_t roster::place_of(node_id id) const {
  const auto* of = find(id);
  const auto before = [&](const member& m) { return &m < of && m.what == of->what; };
  return static_cast<size_t>(std::count_if(members_.begin(), members_.end(), before));
}

const member* roster::nth(role what, size_t n) const {
  for (const auto& m : members_)
    if (m.what == what && n-- == 0)
      return &m;
  return nullptr;
}

std::vector<std::string> roster::names(role what) const {
  std::vector<std::string> all;
  for (const auto& m : members_)
    if (m.what == what)
      all.push_back(m.name);
  return all;
}

}  // namespace troupe
