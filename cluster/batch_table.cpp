#include "cluster/batch_table.hpp"

#include "words/expect.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// The number of inputs that a request opens.
int64_t inputs_of(const topology& t, const input_request& r) {
  if (!r.on_replicas)
    return 1;
  switch (r.input_mode) {
    case input_mode::per_core: return r.mode == mode::train ? t.replicas : t.hosts;
    case input_mode::per_host: return t.hosts;
    case input_mode::per_replica: return std::min(t.hosts, t.replicas);  // Fewer replicas than hosts span several.
    case input_mode::broadcast:
    case input_mode::sliced: return 1;
  }
  return 1;
}

tl::unexpected<error> refuse(const input_request& r, const std::string& why) {
  return fail(errc::invalid_argument, std::string{to_string(r.mode)} + ": " + why);
}

std::string named(input_mode m) { return "input mode " + std::string{to_string(m)}; }

bool has_an_input_per_host(const topology& t, const input_request& r) {
  return r.on_replicas && t.hosts > 1 && r.input_mode != input_mode::broadcast && r.input_mode != input_mode::sliced;
}

}  // namespace

std::string_view to_string(input_mode m) noexcept {
  switch (m) {
    case input_mode::per_core: return "per_core";
    case input_mode::per_host: return "per_host";
    case input_mode::per_replica: return "per_replica";
    case input_mode::broadcast: return "broadcast";
    case input_mode::sliced: return "sliced";
  }
  return "unknown";
}

expected<void> validate(const topology& t, const input_request& r) {
  if (r.batch && *r.batch < 1)
    return refuse(r, "the batch must have at least 1 row, not " + std::to_string(*r.batch));
  if (!r.on_replicas) {
    if (r.input_mode == input_mode::sliced)
      return refuse(r, named(r.input_mode) + " divides batches among replicas, and there are none: use per_host");
    return {};
  }
  if (!r.batch)
    return refuse(r, "replicas need the size of the batch that they share, and none is given");
  if (r.input_mode == input_mode::per_core && t.cores_per_replica > 1)
    return refuse(r, named(r.input_mode) + " is for replicas of one core, not of " + std::to_string(t.cores_per_replica)
                         + ": use per_replica");
  if (t.spans_hosts() && r.input_mode != input_mode::per_replica)
    return refuse(r, named(r.input_mode) + " cannot feed replicas of " + std::to_string(t.cores_per_replica)
                         + " cores on hosts of " + std::to_string(t.cores_per_host) + ": use per_replica");
  if (r.input_mode != input_mode::broadcast && *r.batch % t.replicas != 0)
    return refuse(r, "a batch of " + std::to_string(*r.batch) + " rows cannot be divided evenly among "
                         + std::to_string(t.replicas) + " replicas: use a multiple of them, or broadcast");
  if (r.mode == mode::evaluate && has_an_input_per_host(t, r) && r.input_mode != input_mode::per_replica)
    return refuse(r, named(r.input_mode) + " would read the data on each of " + std::to_string(t.hosts)
                         + " hosts: use broadcast or sliced, or per_replica where hosts read different data");
  return {};
}

std::vector<std::string> warnings_of(const topology& t, const input_request& r) {
  if (r.mode == mode::evaluate && has_an_input_per_host(t, r))
    return {std::string{to_string(r.mode)} + ": each of " + std::to_string(t.hosts)
            + " hosts has an input of its own; a row that two of them read counts twice"};
  return {};
}

std::vector<deployment> deployments(const topology& t, const input_request& r) {
  const int64_t total = inputs_of(t, r);
  const int64_t fed = r.on_replicas ? t.replicas / total : 1;
  std::vector<deployment> all;
  for (int64_t i = 0; i < total; ++i)
    all.push_back({total == 1 ? 0 : place_of(t, i * fed).host, i, total, fed});
  return all;
}

expected<batch_sizes> sizes(const topology& t, const input_request& r) {
  if (auto sound = validate(t, r); !sound)
    return fail(sound.error());
  if (!r.on_replicas || r.input_mode == input_mode::broadcast)
    return batch_sizes{1, r.batch, 1, r.batch};
  const int64_t inputs = inputs_of(t, r), replica_rows = *r.batch / t.replicas;
  if (r.input_mode == input_mode::per_replica)
    return batch_sizes{inputs, replica_rows, t.replicas / inputs, replica_rows};
  return batch_sizes{inputs, *r.batch / inputs, 1, replica_rows};
}

std::optional<double> examples_per_sec(const batch_sizes& s, double steps_per_sec) noexcept {
  if (!s.input_rows)
    return {};
  return static_cast<double>(s.inputs * s.batches_per_step * *s.input_rows) * steps_per_sec;
}

feed feed_of(const topology& t, const input_request& r, int64_t replica) {
  expect(r.on_replicas && r.batch, "only replicas with a known batch are fed by rows");
  if (r.input_mode == input_mode::broadcast)
    return {0, 0, 0, *r.batch};
  // Inputs feed consecutive replicas.
  const int64_t fed = t.replicas / inputs_of(t, r), rows = *r.batch / t.replicas;
  const int64_t input = replica / fed, among_fed = replica % fed;
  return r.input_mode == input_mode::per_replica ? feed{input, among_fed, 0, rows}
                                                 : feed{input, 0, among_fed * rows, rows};
}

}  // namespace troupe
