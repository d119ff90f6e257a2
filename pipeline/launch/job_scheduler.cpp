#include "pipeline/launch/job_scheduler.hpp"

#include "pipeline/launch/silent_printer.hpp"

#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/resumable.hpp>

#include <utility>

namespace troupe {

expected<scheduler_threads> scheduler_threads::start() {
  auto worker = actor_thread::start();
  if (!worker)
    return fail(worker.error());
  auto clock = actor_thread::start();
  if (!clock)
    return fail(clock.error());
  return scheduler_threads{std::move(*worker), std::move(*clock)};
}

/// The execution unit of the worker thread. It puts actors that are woken into the scheduler's queue.
class job_scheduler::worker final : public caf::execution_unit {
 public:
  explicit worker(job_scheduler& scheduler) : execution_unit(&scheduler.system()), scheduler_(scheduler) {}
  void exec_later(caf::resumable* job) override { scheduler_.enqueue(job); }

 private:
  job_scheduler& scheduler_;
};

job_scheduler::job_scheduler(caf::actor_system& system, scheduler_threads threads)
  : abstract_coordinator(system), threads_(std::move(threads)) {}

void job_scheduler::use(caf::actor_system_config& config, scheduler_threads threads) {
  // CAF requires a copyable factory, but calls it only once.
  auto once = std::make_shared<scheduler_threads>(std::move(threads));
  config.module_factories.emplace_back([once](caf::actor_system& system) -> caf::actor_system::module* {
    return new job_scheduler{system, std::move(*once)};
  });
}

void job_scheduler::start() {
  utility_actors_[printer_id] = silent_printer(system());
  threads_.worker.run([this] { work(); });
  threads_.clock.run([this] { clock_.run_dispatch_loop(); });
}

void job_scheduler::stop() {
  clock_.cancel_dispatch_loop();
  {
    std::lock_guard lock{guard_};
    stopping_ = true;
    changed_.notify_all();
  }
  // Each thread ends after its current task, which is short.
  threads_.worker.join();
  threads_.clock.join();
  utility_actors_[printer_id] = nullptr;
  for (auto* job : std::exchange(jobs_, {}))
    cleanup_and_release(job);
}

void job_scheduler::enqueue(caf::resumable* job) {
  std::lock_guard lock{guard_};
  jobs_.push_back(job);
  changed_.notify_one();
}

caf::resumable* job_scheduler::next() {
  std::unique_lock lock{guard_};
  changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
  if (jobs_.empty())
    return nullptr;
  auto* const first = jobs_.front();
  jobs_.pop_front();
  return first;
}

void job_scheduler::work() {
  worker me{*this};
  while (auto* job = next()) {
    switch (job->resume(&me, max_throughput())) {
      case caf::resumable::resume_later: enqueue(job); break;
      case caf::resumable::done:
      case caf::resumable::awaiting_message: caf::intrusive_ptr_release(job); break;
      case caf::resumable::shutdown_execution_unit: return;
    }
  }
}

}  // namespace troupe
