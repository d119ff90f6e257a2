// The conditions of a simulated world: which actor gets the next turn, how long a turn takes, and how long messages
// travel. Plain data. Values between two bounds are drawn with the world's seed.
//
// Without conditions, a turn takes no time, messages arrive at once, and time passes only when no actor has work.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace troupe {

/// A duration drawn uniformly from [least, most] each time it is used.
struct duration_range {
  std::chrono::nanoseconds least{0}, most{0};
  friend bool operator==(const duration_range&, const duration_range&) = default;
};

/// Which actor gets the next turn, among those that have a message and are not busy.
enum class turn_order : uint8_t {
  uniform,  ///< Each is equally likely.
  /// The one with the highest priority. Priorities are drawn, and drop at drawn turns (PCT: Burckhardt et al., 2010).
  priorities,
  starving,  ///< `starved` runs only if no other can, or once it has waited for `starved_at_most`.
};
std::string_view to_string(turn_order o) noexcept;

struct world_conditions {
  turn_order order = turn_order::uniform;
  int32_t priority_changes = 3;    ///< For `priorities`: how often the running node's priority drops below all others.
  int64_t priority_turns = 2'000;  ///< For `priorities`: the drops are drawn among this many turns.
  std::string starved;             ///< For `starving`: the name of the node.
  std::chrono::nanoseconds starved_at_most{std::chrono::seconds{1}};
  /// How long a node is busy after each message. The key is the node's name, or its name without the number:
  /// "replica/1", "replica". Messages that it sends in the turn leave when it is no longer busy.
  std::map<std::string, duration_range> cost;
  /// The place of each node, with keys as in `cost`. All other nodes share one place, whose name is empty.
  std::map<std::string, std::string> place;
  /// The delay of a message between two places. Messages between the same two actors stay in order.
  duration_range link;

  /// Whether turns or messages take time.
  bool timed() const noexcept { return !cost.empty() || !place.empty(); }
};

/// The entry for `node`: under its full name, or under its name without the last number. Null if there is none.
template <class T>
const T* entry_of(const std::map<std::string, T>& by_name, const std::string& node) {
  auto found = by_name.find(node);
  if (const auto cut = node.find_last_not_of("0123456789");
      found == by_name.end() && cut != std::string::npos && node[cut] == '/')
    found = by_name.find(node.substr(0, cut));
  return found == by_name.end() ? nullptr : &found->second;
}

}  // namespace troupe
