// What an evaluator in a process of its own costs while there is nothing to evaluate, and how long after a commit its
// evaluation begins. The reference of the first is a program that asks the directory every 10 ms, which is what the
// second would take by polling.
//
// Files go to a new folder in $TMPDIR, otherwise in ./build.
#include "tests/bench/bench.hpp"
#include "tests/bench/classifier_case.hpp"
#include "tests/bench/processor_share.hpp"
#include "tests/bench/scratch_folder.hpp"

#include <troupe/canned_models.hpp>
#include <troupe/checkpoints.hpp>
#include <troupe/job.hpp>

#include <mutex>
#include <stdexcept>
#include <thread>

namespace troupe::bench {
namespace {

using namespace std::chrono_literals;

double wall() { return now(clock_kind::wall); }

template <class T>
T need_of(expected<T> x) {
  if (!x)
    throw std::runtime_error(to_text(x.error()));
  return std::move(*x);
}

/// When checkpoints were committed, and when their evaluations began, by step.
struct times {
  std::mutex guard;
  std::map<int64_t, double> committed, began;
};

struct notes_commits : hook {
  explicit notes_commits(std::shared_ptr<times> to) : all(std::move(to)) {}
  needs begin(int64_t) override { return {.holds = {.saved = true}}; }
  void on_event(const job_event& e, job_control&) override {
    if (e.what != job_event::kind::saved)
      return;
    {
      const std::lock_guard lock{all->guard};
      all->committed[e.step] = wall();
    }
    std::this_thread::sleep_for(300ms);  // Until its evaluation has ended: the processors are the evaluator's.
  }
  std::shared_ptr<times> all;
};

struct notes_evaluations : hook {
  explicit notes_evaluations(std::shared_ptr<times> to) : all(std::move(to)) {}
  void on_event(const job_event& e, job_control&) override {
    const std::lock_guard lock{all->guard};
    if (e.what == job_event::kind::started)
      all->began[e.step] = wall();
  }
  std::shared_ptr<times> all;
};

estimator task_of(const std::string& folder, const std::string& type) {
  return {.model = dnn_classifier({.hidden_units = {256, 128}, .classes = 10}),
          .config = {.model_dir = folder + "/run", .seed = 1, .save_checkpoints_steps = 10},
          .cluster = cluster{.jobs = {{"chief", {"localhost:0"}}}, .task = {type, 0}}};
}

void measure(suite& s) {
  const scratch_folder folder{"bench_evaluator"};
  const auto noted = std::make_shared<times>();
  eval_spec evaluation{.input = made_up_images(2), .steps = 2, .throttle_secs = 0};
  evaluation.hooks = {std::make_shared<notes_evaluations>(noted)};
  auto evaluator = need_of(start(task_of(folder.path(), "evaluator"), {}, evaluation));
  std::this_thread::sleep_for(1s);
  std::vector<double> ours, polled;
  for (int round = 0; round < 5; ++round) {
    ours.push_back(100 * share_of_core([] { std::this_thread::sleep_for(4s); }));
    const double other = 100 * share_of_core([&] {
                           for (const double until = wall() + 4; wall() < until;) {
                             static_cast<void>(find_checkpoint(folder.path() + "/run"));
                             std::this_thread::sleep_for(10ms);
                           }
                         });
    polled.push_back(other - ours.back());
  }
  s.compare({.name = "idle", .unit = "% core", .reference_name = "asking every 10 ms"}, ours, polled, true);

  train_spec training{.input = made_up_images(32), .max_steps = 210};
  training.hooks = {std::make_shared<notes_commits>(noted)};
  auto chief = need_of(start(task_of(folder.path(), "chief"), training, evaluation));
  static_cast<void>(need_of(chief.wait(120s)));
  static_cast<void>(need_of(evaluator.wait(120s)));
  std::vector<double> delays, ten;
  for (const auto& [step, began] : noted->began)
    if (const auto at = noted->committed.find(step); at != noted->committed.end()) {
      delays.push_back((began - at->second) * 1e3);
      ten.push_back(10);
    }
  s.compare({.name = "commit to evaluation", .unit = "ms", .reference_name = "asking every 10 ms"}, delays, ten, true);
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe::bench;
  try {
    suite s{"evaluator", argc, argv};
    measure(s);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_evaluator: %s\n", e.what());
    return 1;
  }
}
