// A simulated job, with its handle and the controls of its world in one object.
#pragma once

#include "messages/control.hpp"
#include "pipeline/launch/prepared_job.hpp"
#include "pipeline/launch/simulated_launcher.hpp"

namespace troupe::test {

/// A launcher for one job. Its destruction is a crash: the job writes nothing afterwards.
class one_simulated {
 public:
  explicit one_simulated(uint64_t seed, world_conditions conditions = {}) : launcher_(seed, std::move(conditions)) {}

  bool crank() { return world().crank(); }
  bool crank_until(const std::function<bool()>& there) { return world().crank_until(there); }
  void slow_down(const std::string& node, int64_t factor) { world().slow_down(node, factor); }
  void hang(const std::string& node) { world().hang(node); }
  void unhang(const std::string& node) { world().unhang(node); }
  void occupy(const std::string& node, std::chrono::nanoseconds time) { world().occupy(node, time); }
  void spend(std::chrono::nanoseconds time) { world().spend(time); }
  void cut(const std::string& place) { world().cut(place); }
  void heal(const std::string& place) { world().heal(place); }
  void after(std::chrono::nanoseconds time, std::function<void()> what) { world().after(time, std::move(what)); }
  bool kill_place(const std::string& place) { return world().kill_place(place); }
  void watch(simulated_world::witness w) { world().watch(std::move(w)); }
  void pass(std::chrono::nanoseconds time) { world().pass(time); }
  bool throw_in(const std::string& node) { return world().throw_in(node); }
  bool kill(const std::string& node) { return world().kill(node); }
  caf::strong_actor_ptr node(const std::string& name) const { return world().node(name); }
  size_t nodes_started() const { return world().nodes_started(); }
  const std::vector<job_event>& events() const { return world().events(); }
  std::chrono::nanoseconds now() const { return world().now(); }
  int64_t turns() const { return world().turns(); }
  uint64_t trace_hash() const { return world().trace_hash(); }
  void trace_to(std::string* text) { world().trace_to(text); }
  world_gauge gauge() const { return world().gauge(); }
  std::vector<std::string> left() { return world().left(); }

 protected:
  simulated_world& world() const { return launcher_.world(); }
  simulated_launcher launcher_;
};

class simulated_job final : public one_simulated {
 public:
  simulated_job(std::shared_ptr<prepared_job> job, uint64_t seed, world_conditions conditions = {})
    : one_simulated(seed, std::move(conditions)), running_(launcher_.train(std::move(job))) {}
  simulated_job(const simulated_job&) = delete;
  ~simulated_job() { world().end_all(); }

  job_progress progress() const { return running_->progress(); }
  void ask(uint8_t request_kind, stop_reason reason = stop_reason::request) { running_->ask(request_kind, reason); }
  expected<job_report> report(std::chrono::milliseconds deadline) { return running_->report(deadline); }
  /// Cranks until there is a result. The deadline is in virtual time.
  std::optional<expected<train_result>> wait(std::optional<std::chrono::milliseconds> deadline) {
    return running_->wait(deadline);
  }
  /// True: the job has a result.
  bool ended() const { return running_->ended(); }
  /// Cranks `n` turns, where `n` is in [least, least + range) and depends on the seed; fewer if the job ends before.
  void crank_some(uint64_t seed, uint64_t least, uint64_t range) {
    uint64_t left = least + seed * 2654435761u % range + 1;
    crank_until([&] { return --left == 0 || ended(); });
  }

 private:
  std::unique_ptr<running_job> running_;
};

class simulated_prediction final : public one_simulated {
 public:
  simulated_prediction(std::shared_ptr<prepared_job> job, uint64_t seed)
    : one_simulated(seed), running_(launcher_.predict(std::move(job))) {}
  simulated_prediction(const simulated_prediction&) = delete;
  ~simulated_prediction() { world().end_all(); }

  expected<std::optional<step_values>> next() { return running_->next(); }
  void cancel() { running_->cancel(); }
  loaded_state from() const { return running_->from(); }

 private:
  std::unique_ptr<running_prediction> running_;
};

}  // namespace troupe::test
