// Which worker of a cluster builds and trains which parts of an iteration, and which server holds which variable.
#pragma once

#include <troupe/search/placement.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace troupe {

// -- workers -------------------------------------------------------------------------

/// The numbers on which the tasks of a worker depend.
struct worker_seat {
  int64_t worker = 0;  ///< Below `workers`; 0 is the chief.
  int64_t workers = 1;
  int64_t subnetworks = 1;  ///< At least 1.
};

bool builds_ensembles(const placement& p, const worker_seat& seat);
bool builds_subnetwork(const placement& p, const worker_seat& seat, int64_t subnetwork);
/// Whether the worker trains the subnetworks that it builds; otherwise it only reads them.
bool trains_subnetworks(const placement& p, const worker_seat& seat);
/// The subnetworks that no worker trains.
std::vector<int64_t> untrained_subnetworks(const placement& p, int64_t workers, int64_t subnetworks);

// -- parameter servers -----------------------------------------------------------------

/// Servers `first` to `first + count - 1`.
struct server_group {
  int64_t first = 0, count = 1;
  friend bool operator==(const server_group&, const server_group&) = default;
};

/// The servers of a subnetwork. Absent: it has none of its own, and its variables are placed as all others.
std::optional<server_group> servers_of(const placement& p, int64_t servers, int64_t subnetworks, int64_t subnetwork);
/// The server of a variable: a hash of its full name, so that workers with different graphs agree.
int64_t server_of(std::string_view variable, const server_group& group);

}  // namespace troupe
