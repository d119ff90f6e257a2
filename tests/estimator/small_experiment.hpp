// A small experiment, which saves every five steps.
#pragma once

#include "tests/estimator/small_start.hpp"

#include <troupe/early_stopping.hpp>
#include <troupe/experiment.hpp>

namespace troupe::test {

inline experiment small_experiment(const std::string& directory, int64_t train_steps = 10) {
  experiment e{.estimator = small_estimator(directory),
               .train_data = small_dataset().shuffle().batch(4).repeat(),
               .eval_data = small_dataset(20).batch(8),
               .train_steps = train_steps};
  e.estimator.config.save_checkpoints_steps = 5;
  return e;
}

using steps_list = std::vector<int64_t>;

/// The steps in the event files of an evaluation: "eval_one_pass".
inline steps_list evaluated_in(const std::string& directory, const std::string& folder) {
  const auto all = read_evaluations(directory + "/" + folder);
  if (!all)
    throw std::runtime_error{to_text(all.error())};
  steps_list steps;
  for (const auto& point : *all)
    steps.push_back(point.step);
  return steps;
}

/// How many exports the exporter `name` has made and kept.
inline int64_t exports_of(const std::string& directory, const std::string& name = "latest") {
  int64_t n = 0;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator{directory + "/export/" + name, none})
    n += entry.path().filename().string().front() == '1' ? 1 : 0;
  return n;
}

/// Counts the evaluations or trainings that it is part of, and has something happen in each.
struct counting_hook : hook {
  explicit counting_hook(std::function<void()> happens = {}) : happens(std::move(happens)) {}
  needs begin(int64_t) override {
    ++begun;
    if (happens)
      happens();
    return {};
  }
  int64_t begun = 0;
  std::function<void()> happens;
};

}  // namespace troupe::test
