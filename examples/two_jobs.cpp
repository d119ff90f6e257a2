// Two jobs at once. Their hooks are called on the main thread, which runs them between other work, so that they need no
// lock.
#include "examples/orders.hpp"

#include <troupe/troupe.hpp>

#include <condition_variable>
#include <deque>
#include <iostream>
#include <mutex>

namespace tr = troupe;

/// A loop as a window system or a network library has one: any thread posts, one thread runs.
class main_loop {
 public:
  void post(std::function<void()> task) {
    std::lock_guard lock{guard_};
    tasks_.push_back(std::move(task));
    posted_.notify_one();
  }
  /// Runs what is there, after waiting a little for it.
  void run() {
    std::unique_lock lock{guard_};
    posted_.wait_for(lock, std::chrono::milliseconds{20}, [this] { return !tasks_.empty(); });
    while (!tasks_.empty()) {
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

 private:
  std::mutex guard_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> tasks_;
};

/// What both jobs' hooks write to, without a lock.
struct scoreboard {
  std::map<std::string, double> best;
};

struct note_accuracy : tr::hook {
  note_accuracy(std::string who, scoreboard& scores) : who_(std::move(who)), scores_(scores) {}
  void on_event(const tr::job_event& e, tr::job_control&) override {
    if (e.what == tr::job_event::kind::evaluated)
      scores_.best[who_] = std::max(scores_.best[who_], e.metrics.at("accuracy"));
  }

 private:
  std::string who_;
  scoreboard& scores_;
};

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : "runs/two";
  const auto orders = recent_orders();
  main_loop loop;
  scoreboard scores;

  // executor begins
  const auto start = [&](const std::string& name, const tr::model& model) {
    const tr::estimator estimator{model,
                                  {.model_dir = directory + "/" + name, .seed = 1, .save_checkpoints_steps = 100}};
    return tr::start(estimator,
                     {.input = orders.skip(128).shuffle().batch(32).repeat(),
                      .max_steps = 400,
                      .hooks = {std::make_shared<note_accuracy>(name, scores)}},
                     tr::eval_spec{.input = orders.take(128).batch(64), .throttle_secs = 0},
                     {.executor = [&loop](std::function<void()> task) { loop.post(std::move(task)); }});
  };
  // executor ends
  auto deep = start("deep",
                    tr::dnn_classifier({.hidden_units = {16, 8}, .classes = 2, .optimizer = tr::adam{.rate = 0.01f}}));
  auto linear = start("linear", tr::linear_classifier({.classes = 2, .optimizer = tr::adam{.rate = 0.01f}}));
  if (!deep || !linear)
    return tr::print_error(deep ? linear.error() : deep.error());

  // wait begins
  // Hooks are called in `run`, so the main thread never waits long for anything else.
  const auto result_of = [&loop](tr::job& job) {
    auto result = job.wait_for(std::chrono::milliseconds{0});
    for (; result && !*result; result = job.wait_for(std::chrono::milliseconds{0}))
      loop.run();
    return result;
  };
  // wait ends
  for (tr::job* job : {&*deep, &*linear})
    if (const auto result = result_of(*job); !result)
      return tr::print_error(result.error());
  for (const auto& [name, accuracy] : scores.best)
    std::cout << name << " " << accuracy << "\n";
  return 0;
}
