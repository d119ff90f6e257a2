#include "cluster/topology.hpp"

#include <algorithm>
#include <array>

namespace troupe {

namespace {

constexpr std::array<int64_t, 8> cores_of_a_replica{1, 2, 4, 8, 16, 32, 64, 128};

/// "hosts = 2 and cores_per_host = 8 make 16 cores"
std::string cores_text(const topology_options& o) {
  return "hosts = " + std::to_string(o.hosts) + " and cores_per_host = " + std::to_string(o.cores_per_host) + " make "
         + std::to_string(o.hosts * o.cores_per_host) + " cores";
}

expected<void> check(const topology_options& o) {
  for (const auto& [name, value] : {std::pair{"hosts", o.hosts}, std::pair{"cores_per_host", o.cores_per_host}})
    if (value < 0 || value > cores_max)
      return fail(errc::invalid_argument, std::string{name} + " must be in [0, " + std::to_string(cores_max) + "], not "
                                              + std::to_string(value));
  if (o.replicas && *o.replicas < 1)
    return fail(errc::invalid_argument, "replicas must be at least 1, not " + std::to_string(*o.replicas));
  if (std::find(cores_of_a_replica.begin(), cores_of_a_replica.end(), o.cores_per_replica) == cores_of_a_replica.end())
    return fail(errc::invalid_argument,
                "cores_per_replica must be 1, 2, 4, 8, 16, 32, 64 or 128, not " + std::to_string(o.cores_per_replica));
  const int64_t cores = o.hosts * o.cores_per_host;
  if (cores == 0)
    return fail(errc::state, cores_text(o) + ": a replica needs at least one");
  if (cores > cores_max)
    return fail(errc::invalid_argument, cores_text(o) + ", more than " + std::to_string(cores_max));
  if (o.cores_per_replica > cores)
    return fail(errc::invalid_argument,
                cores_text(o) + ", fewer than cores_per_replica = " + std::to_string(o.cores_per_replica));
  const auto [less, more] = std::minmax(o.cores_per_replica, o.cores_per_host);
  if (cores % o.cores_per_replica != 0 || more % less != 0)
    return fail(errc::state, cores_text(o) + ", which cannot be divided evenly into replicas of "
                                 + std::to_string(o.cores_per_replica) + " cores");
  return {};
}

}  // namespace

expected<topology> make_topology(const topology_options& o) {
  if (auto sound = check(o); !sound)
    return fail(sound.error());
  const int64_t cores = o.hosts * o.cores_per_host;
  topology made{o.hosts, o.cores_per_host, o.cores_per_replica, cores / o.cores_per_replica};
  if (o.replicas == 1 && o.cores_per_replica == 1) {
    made = {};
    if (cores > 1)
      made.warnings.push_back("replicas = 1 takes one core of one host: " + std::to_string(cores - 1) + " of "
                              + std::to_string(cores) + " cores are left idle");
  } else if (o.replicas && *o.replicas != made.replicas) {
    return fail(errc::invalid_argument, "replicas must be " + std::to_string(made.replicas) + " or left out, not "
                                            + std::to_string(*o.replicas) + ": " + cores_text(o) + ", "
                                            + std::to_string(o.cores_per_replica) + " for each replica");
  }
  return made;
}

replica_place place_of(const topology& t, int64_t replica) noexcept {
  if (t.spans_hosts())
    return {replica * t.cores_per_replica / t.cores_per_host, 0};
  return {replica / t.replicas_per_host(), replica % t.replicas_per_host()};
}

int64_t replica_of(const topology& t, int64_t host, int64_t ordinal) noexcept {
  return (host * t.cores_per_host + ordinal) / t.cores_per_replica;
}

}  // namespace troupe
