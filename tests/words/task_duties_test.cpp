#include "words/task_duties.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using duties = std::vector<duty>;

const duties of_all_tasks{duty::input,      duty::user_hooks,   duty::step_limit,
                          duty::not_finite, duty::progress_log, duty::training_hooks};

duties after(duties first, const duties& then = of_all_tasks) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

}  // namespace

TEST_CASE(
    "[EST-26] a chief has all duties in order, a worker those from the input on; beside a master the first worker "
    "measures") {
  const run_config config;
  const auto of = [&](task_kind kind, int32_t index = 0, bool master_with_workers = false) {
    return duties_of({kind, index, master_with_workers}, config, true);
  };
  const duties of_chief = after({duty::checkpoints, duty::chief_hooks, duty::step_counter, duty::summaries});
  CHECK(of(task_kind::chief) == of_chief);
  CHECK(of(task_kind::master) == of_chief);
  CHECK(of(task_kind::worker) == of_all_tasks);
  CHECK(of(task_kind::worker, 1) == of_all_tasks);
  CHECK(of(task_kind::master, 0, true) == after({duty::checkpoints, duty::chief_hooks}));
  CHECK(of(task_kind::worker, 0, true) == after({duty::step_counter, duty::summaries}));
  CHECK(of(task_kind::worker, 1, true) == of_all_tasks);
}

TEST_CASE("what the configuration switches off is nobody's duty") {
  const duties few{duty::chief_hooks, duty::input, duty::user_hooks, duty::not_finite, duty::training_hooks};
  CHECK(duties_of(
            {}, {.save_summary_steps = 0, .save_checkpoints_steps = std::nullopt, .log_step_count_steps = std::nullopt},
            false)
        == few);
}

TEST_CASE("parameter servers and evaluators do not train") {
  for (const auto kind : {task_kind::chief, task_kind::master, task_kind::worker})
    CHECK(may_train({kind}));
  CHECK(may_train({task_kind::parameter_server}).error()
        == error{errc::invalid_argument, "train() cannot run in a task of the type 'ps': use train_and_evaluate()"});
  CHECK(may_train({task_kind::evaluator}).error().category == errc::invalid_argument);
}

}  // namespace troupe::test
