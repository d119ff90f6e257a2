#include "pipeline/launch/open_datasets.hpp"

#include "input/streams/example_rows.hpp"
#include "input/streams/input_function.hpp"
#include "input/streams/open_input.hpp"
#include "pipeline/plan/deployed_inputs.hpp"
#include "words/text.hpp"

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

/// The data of an evaluation in words, for errors.
std::string data_of(const prepared_job& job, int32_t which) {
  const auto* training = std::get_if<training_job>(&job.job);
  const auto purpose = training ? training->evaluations[static_cast<size_t>(which)].purpose
                                : evaluation_purpose::regular;
  if (purpose == evaluation_purpose::choice)
    return "evaluator.input";
  if (purpose == evaluation_purpose::reports)
    return "report_materializer.input";
  const auto& name = job.evaluation(which).name;
  std::string text = "the input of the evaluation";
  return name.empty() ? text : text.append(" ").append(quoted(name));
}

/// An evaluation of all data must come to their end. One that has hooks may be ended by them.
expected<void> check_end(const prepared_job& job, size_t number, const dataset& input, node_id driver) {
  if (job.plan->datasets[number].mode != mode::evaluate)
    return {};
  const auto which = job.plan.at(driver).index;
  const auto& data = job.evaluation(which);
  if (data.steps || !data.hooks.empty() || !input.last_stage()->never_ends())
    return {};
  return text_of(input).and_then([&](const std::string& text) -> expected<void> {
    return fail(errc::invalid_argument, data_of(job, which) + " never ends (" + text
                                            + "), and it has no steps: give steps, or leave repeat() out");
  });
}

}  // namespace

expected<prepared_dataset> open_dataset(const prepared_job& job, size_t number, const dataset& input) {
  const auto reads = [number](const plan_node& n) { return n.dataset == number; };
  const auto& nodes = job.plan->nodes;
  const auto infeeds = std::count_if(nodes.begin(), nodes.end(), reads);
  const auto driver = std::find_if(nodes.begin(), nodes.end(), reads)->driver;
  auto inputs = inputs_of(job, number, input, infeeds, driver);
  if (!inputs)
    return fail(inputs.error());
  prepared_dataset made{.inputs = std::move(*inputs)};
  made.iterate = {job.basis().config.seed, job.plan->datasets[number].mode == mode::train, 0,
                  static_cast<int32_t>(infeeds)};
  for (const auto& one : made.inputs) {
    if (auto ends = check_end(job, number, one, driver); !ends)
      return fail(std::move(ends.error()));
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
