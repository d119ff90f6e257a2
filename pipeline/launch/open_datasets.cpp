#include "pipeline/launch/open_datasets.hpp"

#include "input/streams/example_rows.hpp"
#include "input/streams/input_function.hpp"
#include "input/streams/open_input.hpp"
#include "pipeline/plan/deployed_inputs.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// What the infeeds of a dataset read. What an input function returns for an evaluation or a prediction is dealt.
expected<std::vector<dataset>> inputs_of(const prepared_job& job, size_t number, const dataset& input, int64_t infeeds,
                                         node_id driver) {
  const auto mode = job.plan->datasets[number].mode;
  if (mode == mode::train)
    return deployed_inputs(input, job.training());
  const auto* function = input_function_of(input);
  const auto replicas = std::ssize(job.plan.all(role::replica, driver));
  return deployed(input, {function ? function->batch_size : 1, {.replicas = replicas}, infeeds, replicas, mode})
      .map([](dataset all) { return std::vector{std::move(all)}; });
}

}  // namespace

expected<prepared_dataset> open_dataset(const prepared_job& job, size_t number, const dataset& input) {
  const auto reads = [number](const plan_node& n) { return n.dataset == number; };
  const auto& nodes = job.plan->nodes;
  const auto infeeds = std::count_if(nodes.begin(), nodes.end(), reads);
  auto inputs = inputs_of(job, number, input, infeeds, std::find_if(nodes.begin(), nodes.end(), reads)->driver);
  if (!inputs)
    return fail(inputs.error());
  prepared_dataset made{.inputs = std::move(*inputs)};
  made.iterate = {job.basis().config.seed, job.plan->datasets[number].mode == mode::train, 0,
                  static_cast<int32_t>(infeeds)};
  for (const auto& one : made.inputs) {
    auto opened = open_input(one, made.iterate);
    if (!opened)
      return fail(opened.error());
    if (!made.first.empty() && (*opened)->spec() != made.element)
      return fail(errc::invalid_argument, "inputs must have the same components: input 0 has"
                                              + input::to_text(made.element) + ", and input "
                                              + std::to_string(made.first.size()) + " has"
                                              + input::to_text((*opened)->spec()) + ", in " + one.to_text());
    made.element = (*opened)->spec();
    made.batch_rows = (*opened)->batch_rows();
    made.first.push_back(std::move(*opened));
  }
  return made;
}

}  // namespace troupe
