#include "pipeline/launch/launch_simulated.hpp"

#include "pipeline/launch/job_crew.hpp"
#include "pipeline/launch/simulated_world.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

namespace {

class recording_board final : public job_board {
 public:
  void status(const job_progress& x) override { now = x; }
  void event(const job_event& x) override { events.push_back(x); }
  void finished(expected<train_result> x) override {
    if (!result)
      result = std::move(x);
  }
  job_progress now;
  std::vector<job_event> events;
  std::optional<expected<train_result>> result;
};

}  // namespace

struct simulated_job::impl {
  impl(std::shared_ptr<prepared_job> job, uint64_t seed) : world(seed), board(std::make_shared<recording_board>()) {
    if (job->wall_offset == 0)  // A test may set it.
      job->wall_offset = 1'700'000'000;
    const auto started = [this](const std::string& name, const caf::strong_actor_ptr& node) { world.started(name, node); };
    job->board = board;
    chief = start_head<chief_actor>(*make_crew(world.system(), job, no_node, false, started), role::chief);
    chief->attach_functor([b = board] { b->finished(fail(errc::aborted, "the chief ended without a result")); });
  }

  simulated_world world;
  std::shared_ptr<recording_board> board;
  chief_actor chief;
};

simulated_job::simulated_job(std::shared_ptr<prepared_job> job, uint64_t seed) : impl_(std::make_unique<impl>(std::move(job), seed)) {}

simulated_job::~simulated_job() {
  impl_->chief = chief_actor{};
  impl_->world.end_all();
}

job_progress simulated_job::progress() const {
  return impl_->board->now;
}

void simulated_job::ask(uint8_t kind, bool by_signal) {
  caf::anon_send(impl_->chief, request{kind, by_signal});
}

std::optional<expected<train_result>> simulated_job::wait(std::optional<std::chrono::milliseconds> deadline) {
  const auto end = deadline ? now() + *deadline : std::chrono::nanoseconds::max();
  crank_until([&] { return impl_->board->result.has_value() || now() > end; });
  return impl_->board->result;
}

bool simulated_job::crank() {
  return impl_->world.crank();
}

bool simulated_job::crank_until(const std::function<bool()>& there, int64_t turns) {
  return impl_->world.crank_until(there, turns);
}

void simulated_job::slow_down(const std::string& node, int64_t factor) {
  impl_->world.slow_down(node, factor);
}

void simulated_job::hang(const std::string& node) {
  impl_->world.hang(node);
}

void simulated_job::pass(std::chrono::nanoseconds time) {
  impl_->world.pass(time);
}

bool simulated_job::kill(const std::string& node) {
  return impl_->world.kill(node);
}

const std::vector<job_event>& simulated_job::events() const {
  return impl_->board->events;
}

std::chrono::nanoseconds simulated_job::now() const {
  return impl_->world.now();
}

int64_t simulated_job::turns() const {
  return impl_->world.turns();
}

uint64_t simulated_job::trace_hash() const {
  return impl_->world.trace_hash();
}

void simulated_job::trace_to(std::string* text) {
  impl_->world.trace_to(text);
}

bool simulated_job::ended() const {
  return impl_->board->result.has_value();
}

world_gauge simulated_job::gauge() const {
  return impl_->world.gauge();
}

std::vector<std::string> simulated_job::left() {
  return impl_->world.left();
}

}  // namespace troupe
