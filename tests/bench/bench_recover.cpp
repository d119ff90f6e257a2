// How long a job pauses when its replica dies: from the death, inside a step, to the end of the next step, without a
// delay before the attempt. The reference is a cold restore of the same checkpoint: a new job on the directory, from
// its launch, with models planned and memory allocated, to the end of its first step.
//
// Files go to a new folder in $TMPDIR, otherwise in ./build.
#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/prepared_job.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/classifier_case.hpp"
#include "tests/bench/scratch_folder.hpp"
#include "tests/support/wrapped_engine.hpp"

#include <condition_variable>
#include <mutex>
#include <stdexcept>

namespace troupe::bench {
namespace {

constexpr std::chrono::seconds deadline{120};

double wall() { return now(clock_kind::wall); }

template <class T>
T need_of(expected<T> x) {
  if (!x)
    throw std::runtime_error(to_text(x.error()));
  return std::move(*x);
}

/// Shared by all engines of a job's replica: whether the replica is to die, and when steps ended.
class life {
 public:
  /// Ends the calling replica if it is to die.
  void before_step() {
    std::lock_guard lock{guard_};
    if (!std::exchange(dies_, false))
      return;
    died_ = wall();
    done_.reset();
    throw std::runtime_error("death " + std::to_string(++deaths_));
  }
  void after_step() {
    std::lock_guard lock{guard_};
    if (!done_)
      done_ = wall();
    changed_.notify_all();
  }
  /// Waits for the first step since the start or the last death, and returns when it ended.
  double first_step() {
    std::unique_lock lock{guard_};
    if (!changed_.wait_for(lock, deadline, [this] { return done_.has_value(); }))
      throw std::runtime_error("no step ended in time");
    return *done_;
  }
  /// Makes the replica die in its next step. Returns the seconds from the death to the end of the first step after it.
  double die() {
    {
      std::lock_guard lock{guard_};
      dies_ = true;
      done_.reset();
    }
    std::unique_lock lock{guard_};
    if (!changed_.wait_for(lock, deadline, [this] { return !dies_ && done_.has_value(); }))
      throw std::runtime_error("the job did not recover in time");
    return *done_ - died_;
  }

 private:
  std::mutex guard_;
  std::condition_variable changed_;
  bool dies_ = false;
  int deaths_ = 0;
  double died_ = 0;
  std::optional<double> done_;
};

class mortal_engine final : public test::wrapped_engine {
 public:
  mortal_engine(std::shared_ptr<step_engine> inner, std::shared_ptr<life> shared)
    : wrapped_engine(std::move(inner)), life_(std::move(shared)) {}
  step_status gradients(int64_t step, const batch_feeds& in, int arena) override {
    life_->before_step();
    return wrapped_engine::gradients(step, in, arena);
  }
  void apply(int64_t step, const tensor& sum, int from, int to) override {
    wrapped_engine::apply(step, sum, from, to);
    life_->after_step();
  }

 private:
  std::shared_ptr<life> life_;
};

/// The network, and a variable of `bytes` bytes that no step updates.
model with_ballast(const model& network, int64_t bytes) {
  return model{
      "classifier", [network, bytes](graph& g, const features& x, const labels& y, mode m) {
        auto spec = network.build(g, x, y, m);
        if (bytes > 0)
          g.variable({.name = "ballast", .dims = {bytes / 4}, .initial = init::uniform(-1, 1), .trainable = false});
        return spec;
      }};
}

/// Whether the state file was replaced since the last call; `mark` keeps the time of its last change.
bool lists_again(const std::string& state_file, int64_t& mark) {
  const auto info = posix_file_system()->info(state_file);
  return info && std::exchange(mark, info->changed) != info->changed;
}

void measure(suite& s, const std::string& name, const model& network, int rounds) {
  const scratch_folder folder{"bench_recover"};
  const auto config = need_of(resolve_config({.model_dir = join_path(folder.path(), "run"),
                                              .seed = 1,
                                              .save_checkpoints_secs = 1e6,
                                              .log_step_count_steps = std::nullopt,
                                              .recovery_attempts_max = std::nullopt,
                                              .recovery_first_delay_secs = 0}));
  std::vector<double> recovered, cold;
  const std::string state_file = folder.path() + "/run/checkpoint";
  int64_t listed = 0;
  for (int round = -1; round < rounds; ++round) {  // The first round makes the checkpoint.
    const auto prepared = need_of(
        prepare(training_job{.basis = {.source = std::make_shared<const model>(network), .config = config},
                             .input = made_up_images(32),
                             .max_steps = int64_t{1} << 40}));
    const auto shared = std::make_shared<life>();
    auto& program = prepared->in(mode::train);
    program.engines.front() = std::make_shared<mortal_engine>(program.engines.front(), shared);
    program.make_engine = [make = program.make_engine, shared](const plan_node& replica) {
      return make(replica).map([&](std::unique_ptr<step_engine> made) -> std::unique_ptr<step_engine> {
        return std::make_unique<mortal_engine>(std::move(made), shared);
      });
    };
    lists_again(state_file, listed);
    const double start = wall();
    const auto job = local_launcher{}.train(prepared);
    const double first = shared->first_step();
    while (!lists_again(state_file, listed))  // Until the save of the initial state.
      if (job->wait(std::chrono::milliseconds{1}))
        throw std::runtime_error("the job ended");
    if (round >= 0) {
      cold.push_back((first - start) * 1e3);
      recovered.push_back(shared->die() * 1e3);
    }
    job->abort();
    static_cast<void>(job->wait(deadline));
  }
  s.compare({.name = name, .unit = "ms", .reference_name = "cold restore"}, recovered, cold, true);
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe::bench;
  try {
    suite s{"recover", argc, argv};
    measure(s, "784-256-128-10", troupe::dnn_classifier({.hidden_units = {256, 128}, .classes = 10}), 21);
    measure(s, "1 GiB", with_ballast(troupe::dnn_classifier({.hidden_units = {128}, .classes = 10}), int64_t{1} << 30),
            5);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_recover: %s\n", e.what());
    return 1;
  }
}
