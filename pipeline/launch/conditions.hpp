// The conditions of a simulated world: who gets the next turn, how long a turn takes, and how long messages are on their way.
// Plain data; the seed of the world draws what lies between bounds.
//
// Without conditions a turn takes no time, a message is there at once, and time passes only when no actor has anything to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace troupe {

/// Drawn evenly from [least, most] each time.
struct duration_range {
  std::chrono::nanoseconds least{0}, most{0};
  friend bool operator==(const duration_range&, const duration_range&) = default;
};

/// Who gets the next turn, of those who have a message and are not busy.
enum class turn_order : uint8_t {
  uniform,     ///< Each is as likely.
  priorities,  ///< The one with the highest priority; priorities are drawn, and fall at drawn turns (PCT: Burckhardt et al., 2010).
  starving,    ///< One node only when nobody else can, or once it has waited for `starved_at_most`.
};
std::string_view to_string(turn_order o) noexcept;

struct world_conditions {
  turn_order order = turn_order::uniform;
  int32_t priority_changes = 3;                     ///< priorities: how often the running node's priority falls below all others.
  int64_t priority_turns = 2'000;                   ///< priorities: these changes are drawn among so many turns.
  std::string starved;                              ///< starving: the node.
  std::chrono::nanoseconds starved_at_most{std::chrono::seconds{1}};
  /// How long a node is busy after each message, by its name or by its name without the number: "replica/1", "replica". What it
  /// sends leaves when it is done.
  std::map<std::string, duration_range> cost;
  /// The place of each node, by name as in `cost`; the others are in a place of their own, whose name is empty.
  std::map<std::string, std::string> place;
  /// The delay of a message from one place to another. Messages of each pair of actors stay in order.
  duration_range link;

  /// Whether turns or messages take time.
  bool timed() const noexcept { return !cost.empty() || !place.empty(); }
};

/// The entry of a node in a map by name: its own, or that of its name without the last number. Null: it has none.
template <class T>
const T* entry_of(const std::map<std::string, T>& by_name, const std::string& node) {
  auto found = by_name.find(node);
  if (const auto cut = node.find_last_not_of("0123456789"); found == by_name.end() && cut != std::string::npos && node[cut] == '/')
    found = by_name.find(node.substr(0, cut));
  return found == by_name.end() ? nullptr : &found->second;
}

}  // namespace troupe
