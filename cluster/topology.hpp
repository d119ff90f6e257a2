// Hosts, their cores, and the replicas on them: plain data, computed from what is given. Nothing is asked of a system.
//
//   auto t = make_topology({.hosts = 2, .cores_per_host = 8});
//   place_of(*t, 9);  // host 1, ordinal 1
#pragma once

#include <troupe/error.hpp>

namespace troupe {

/// Sixty-four hosts of a thousand cores: a bound on what is computed for each core.
inline constexpr int64_t cores_max = 65'536;

struct topology_options {
  int64_t hosts = 1;
  int64_t cores_per_host = 1;
  /// A power of two up to 128: each replica is spread over this many cores (TPUConfig's num_cores_per_replica). Engines
  /// run a replica on one core; the threads of a replica are no cores.
  int64_t cores_per_replica = 1;
  /// How many replicas there have to be (TPUConfig's num_shards). Absent: as many as there are cores for.
  std::optional<int64_t> replicas = {};
};

/// Replica r has the consecutive cores from r * cores_per_replica on, counted through all hosts.
struct topology {
  int64_t hosts = 1;
  int64_t cores_per_host = 1;
  int64_t cores_per_replica = 1;
  int64_t replicas = 1;
  std::vector<std::string> warnings = {};

  int64_t cores() const noexcept { return hosts * cores_per_host; }
  /// 0 if each replica spans several hosts.
  int64_t replicas_per_host() const noexcept { return cores_per_host / cores_per_replica; }
  bool spans_hosts() const noexcept { return cores_per_replica > cores_per_host; }
};

/// One replica alone is put on one core of one host; a warning says if other cores are left idle.
/// invalid_argument: a number outside its range, fewer cores than a replica needs, or another number of replicas than
/// there are; state: no core at all, or cores that replicas cannot share evenly.
expected<topology> make_topology(const topology_options& options);

struct replica_place {
  int64_t host = 0;     ///< The host of the replica's first core.
  int64_t ordinal = 0;  ///< Its index among the replicas of that host.
  friend bool operator==(const replica_place&, const replica_place&) = default;
};
/// `replica` must be in [0, t.replicas).
replica_place place_of(const topology& t, int64_t replica) noexcept;
/// The replica that has a core. `ordinal` is the core's index on its host.
int64_t replica_of(const topology& t, int64_t host, int64_t ordinal) noexcept;

}  // namespace troupe
