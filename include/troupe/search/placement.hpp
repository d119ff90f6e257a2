// Which worker of a cluster builds and trains which parts of an iteration of a search.
// Not needed to begin with.
#pragma once

#include <cstdint>

namespace troupe {

struct placement {
  /// replication: each worker builds and trains everything. round_robin: workers take turns. With k subnetworks, worker
  /// w has task w mod (k + 1): task 0 builds the ensembles and reads all subnetworks, task s + 1 trains subnetwork s.
  enum class kind : uint8_t { replication, round_robin };
  kind what = kind::replication;
  /// round_robin: in an incomplete last turn of workers, the others' subnetworks are not trained there. False: the
  /// workers of that turn share them.
  bool drop_remainder = false;
  /// round_robin: each subnetwork has parameter servers of its own, if there are enough.
  bool dedicate_parameter_servers = true;

  friend bool operator==(const placement&, const placement&) = default;
};

}  // namespace troupe
