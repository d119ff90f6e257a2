// Checks the protocol between nodes at every message of a job.
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

/// Sees each message when it arrives: a grant counts from then on.
class protocol_watch {
 public:
  void saw(const std::string& from, const std::string& to, const caf::type_erased_tuple& content);
  /// The first hundred broken rules.
  const std::vector<std::string>& breaches() const noexcept { return breaches_; }

 private:
  struct standing {
    int32_t attempt = -1;
    int64_t until = -1;     ///< The horizon that the node was granted.
    int64_t reported = -1;  ///< Of a replica: the state up to which it has reported.
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
  /// Checks that the `sent` messages in flight from one node to another are within the credit of their kind of edge.
  /// `last` describes the newest.
  void hold(edge_kind what, const std::string& from, const std::string& to, size_t sent, const std::string& last);
  standing& of(const std::string& node, int32_t attempt);
  void breach(std::string what);

  std::map<std::string, standing> nodes_;
  std::map<std::pair<int32_t, int32_t>, int64_t> credit_, entries_;  ///< By edge and attempt.
  /// Steps in flight, by sender and attempt.
  std::map<std::pair<std::string, int32_t>, std::set<int64_t>> gradients_, parts_;
  /// The first state that a replica of a group that has left does not make, by the replica's number and attempt.
  std::map<std::pair<int32_t, int32_t>, int64_t> gone_;
  std::map<std::string, int32_t> begun_;
  std::vector<std::string> breaches_;
};

}  // namespace troupe::test::random_faults
