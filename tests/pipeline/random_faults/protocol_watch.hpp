// Rules of the messages between nodes, checked at every message while a job runs.
#pragma once

#include "messages/block.hpp"
#include "messages/reduction.hpp"
#include "messages/report.hpp"
#include "messages/snapshot.hpp"
#include "messages/summary.hpp"

#include <caf/fwd.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace troupe::test::random_faults {

/// What it has seen is what receivers have: a grant counts once it is there.
class protocol_watch {
 public:
  void saw(const std::string& from, const std::string& to, const caf::type_erased_tuple& content);
  /// The first hundred.
  const std::vector<std::string>& breaches() const noexcept { return breaches_; }

 private:
  struct standing {
    int32_t attempt = -1;
    int64_t until = -1;      ///< The horizon it was granted.
    int64_t reported = -1;   ///< A replica: the state to which its reports led.
    int64_t records_until = 0;
  };
  template <class... Ms>
  void look_at_one_of(const std::string& from, const std::string& to, const caf::type_erased_tuple& content);
  void look(const begin& x, const std::string& from, const std::string& to);
  void look(const run& x, const std::string& from, const std::string& to);
  void look(const pull& x, const std::string& from, const std::string& to);
  void look(const block& x, const std::string& from, const std::string& to);
  void look(const step_report& x, const std::string& from, const std::string& to);
  void look(const record_credit& x, const std::string& from, const std::string& to);
  void look(const flush& x, const std::string& from, const std::string& to);
  void look(const record& x, const std::string& from, const std::string& to);
  void look(const gradient_part& x, const std::string& from, const std::string& to);
  void look(const gradient_sum& x, const std::string& from, const std::string& to);
  void look(const snapshot_part& x, const std::string& from, const std::string& to);
  void look(const departed& x, const std::string& from, const std::string& to);
  void look(const committed& x, const std::string& from, const std::string& to);
  /// Of all messages of a kind that are on their way from a node, `sent`, `last` is the one that has come now.
  void hold(edge_kind what, const std::string& from, const std::string& to, size_t sent, const std::string& last);
  standing& of(const std::string& node, int32_t attempt);
  void breach(std::string what);

  std::map<std::string, standing> nodes_;
  std::map<std::pair<int32_t, int32_t>, int64_t> credit_;  ///< By edge and attempt.
  std::map<std::pair<std::string, int32_t>, std::set<int64_t>> gradients_, parts_;  ///< Steps on their way, by sender and attempt.
  std::map<std::pair<int32_t, int32_t>, int64_t> gone_;  ///< The first state that a replica makes nothing of, by its number and attempt.
  std::map<std::string, int32_t> begun_;
  std::vector<std::string> breaches_;
};

}  // namespace troupe::test::random_faults
