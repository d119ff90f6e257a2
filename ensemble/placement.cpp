#include "ensemble/placement.hpp"

#include "ensemble/sha256.hpp"
#include "words/expect.hpp"

#include <algorithm>

namespace troupe {

namespace {

bool replicates(const placement& p, const worker_seat& seat) {
  expect(seat.worker >= 0 && seat.worker < seat.workers && seat.subnetworks > 0, "there is no such worker of a search");
  return p.what == placement::kind::replication || seat.subnetworks == 1;
}

int64_t task_of(const worker_seat& seat) { return seat.worker % (seat.subnetworks + 1); }

/// How many workers with a subnetwork the turn of this worker has.
int64_t trainers_in_turn(const worker_seat& seat) {
  const int64_t turn = seat.subnetworks + 1;
  const bool is_last = seat.worker >= turn * (seat.workers / turn);
  return is_last && seat.workers % turn != 0 ? seat.workers % turn - 1 : seat.subnetworks;
}

}  // namespace

bool builds_ensembles(const placement& p, const worker_seat& seat) { return replicates(p, seat) || task_of(seat) == 0; }

bool builds_subnetwork(const placement& p, const worker_seat& seat, int64_t subnetwork) {
  if (builds_ensembles(p, seat))
    return true;
  const int64_t first = task_of(seat) - 1;
  return first == (p.drop_remainder ? subnetwork : subnetwork % trainers_in_turn(seat));
}

bool trains_subnetworks(const placement& p, const worker_seat& seat) {
  return replicates(p, seat) || seat.workers == 1 || !builds_ensembles(p, seat);
}

std::vector<int64_t> untrained_subnetworks(const placement& p, int64_t workers, int64_t subnetworks) {
  const auto is_trained = [&](int64_t subnetwork) {
    for (worker_seat seat{0, workers, subnetworks}; seat.worker < workers; ++seat.worker)
      if (trains_subnetworks(p, seat) && builds_subnetwork(p, seat, subnetwork))
        return true;
    return false;
  };
  std::vector<int64_t> all;
  for (int64_t subnetwork = 0; subnetwork < subnetworks; ++subnetwork)
    if (!is_trained(subnetwork))
      all.push_back(subnetwork);
  return all;
}

std::optional<server_group> servers_of(const placement& p, int64_t servers, int64_t subnetworks, int64_t subnetwork) {
  if (p.what != placement::kind::round_robin || !p.dedicate_parameter_servers || servers == 0)
    return std::nullopt;
  if (subnetworks > servers)
    return server_group{subnetwork % servers, 1};
  const int64_t least = servers / subnetworks, larger = servers % subnetworks;
  return server_group{subnetwork * least + std::min(subnetwork, larger), least + (subnetwork < larger ? 1 : 0)};
}

int64_t server_of(std::string_view variable, const server_group& group) {
  return group.first + remainder(sha256(variable), static_cast<uint32_t>(group.count));
}

}  // namespace troupe
