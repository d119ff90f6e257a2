#include "pipeline/plan/deployed_inputs.hpp"

#include "cluster/batch_table.hpp"
#include "input/streams/input_function.hpp"

namespace troupe {

expected<std::vector<dataset>> deployed_inputs(const dataset& input, const training_job& job) {
  const auto* function = input_function_of(input);
  if (!function)
    return std::vector{input};
  const auto& config = job.basis.config;
  const topology over{.hosts = job.hosts, .cores_per_host = config.replicas / job.hosts, .replicas = config.replicas};
  const input_request wanted{.input_mode = config.input_mode, .batch = function->batch_size};
  const auto each = sizes(over, wanted);
  if (!each)
    return fail(each.error());
  std::vector<dataset> all;
  for (const auto& d : deployments(over, wanted)) {
    auto one = deployed(input, {*each->input_rows, d, over.hosts, over.replicas, mode::train});
    if (!one)
      return fail(one.error());
    all.push_back(std::move(*one));
  }
  return all;
}

}  // namespace troupe
