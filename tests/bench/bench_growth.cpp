// How long a job pauses while it grows from one plan to the next: from the last step of an iteration to the first step
// of the next, including the commits of both, the preparation of the next plan and its state on disk. The reference is
// a new job on the directory: preparation, launch, restoration and first step, without the commit that it starts from.
//
// Files go to a new folder in $TMPDIR, otherwise in ./build.
#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/prepared_job.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/classifier_case.hpp"
#include "tests/bench/scratch_folder.hpp"

#include <condition_variable>
#include <mutex>
#include <stdexcept>

namespace troupe::bench {
namespace {

constexpr std::chrono::seconds deadline{120};
constexpr int64_t last_step = 20;

double wall() { return now(clock_kind::wall); }

template <class T>
T need_of(expected<T> x) {
  if (!x)
    throw std::runtime_error(to_text(x.error()));
  return std::move(*x);
}

/// Records when steps ended and when commits were durable, as hooks learn it.
struct watch final : hook {
  needs begin(int64_t) override { return {.steps = {{.first = last_step}, {.first = last_step + 1}}}; }
  void on_step(const step_facts& f, job_control&) override { add("step " + std::to_string(f.step)); }
  void on_event(const job_event& e, job_control&) override {
    if (e.what == job_event::kind::saved)
      add("commit " + std::to_string(e.checkpoint->step) + " " + std::to_string(e.checkpoint->iteration));
  }
  void add(const std::string& what) {
    const std::lock_guard lock{guard};
    at.emplace(what, wall());
    changed.notify_all();
  }
  double time_of(const std::string& what) {
    std::unique_lock lock{guard};
    if (!changed.wait_for(lock, deadline, [&] { return at.contains(what); }))
      throw std::runtime_error("no " + what + " in time");
    return at.at(what);
  }
  std::mutex guard;
  std::condition_variable changed;
  std::map<std::string, double> at;
};

void measure(suite& s, const std::string& name, const model& network, int rounds) {
  std::vector<double> growing, cold, commits;
  for (int round = -1; round < rounds; ++round) {  // The first round only warms up.
    const scratch_folder folder{"bench_growth"};
    const auto config = need_of(resolve_config({.model_dir = join_path(folder.path(), "run"),
                                                .seed = 1,
                                                .save_checkpoints_secs = 1e6,
                                                .log_step_count_steps = std::nullopt}));
    const auto described = [&](const std::shared_ptr<watch>& seen) {
      training_job job{.basis = {.source = std::make_shared<const model>(network), .config = config},
                       .input = made_up_images(32),
                       .max_steps = int64_t{1} << 40,
                       .hooks = {seen}};
      job.planner = [plain = job](const job_books& books) {
        return plan_of(plain, books).map([&](planned_job made) {
          const bool second = books && (books->id.iteration > 0 || books->id.step >= last_step);
          made.plan.iteration = second ? plan_iteration{.number = 1, .begins_at = last_step}
                                       : plan_iteration{.ends_at = last_step};
          return made;
        });
      };
      return job;
    };
    const auto run = [&](const std::function<double(watch&)>& measured) {
      const auto seen = std::make_shared<watch>();
      const double start = wall();
      const auto job = local_launcher{}.train(need_of(prepare(described(seen))));
      const double found = measured(*seen);
      job->abort();
      static_cast<void>(job->wait(deadline));
      return found > 0 ? found : seen->time_of("step " + std::to_string(last_step + 1)) - start;
    };
    const double grown = run([&](watch& seen) {
      const double stood = seen.time_of("step " + std::to_string(last_step)),
                   went_on = seen.time_of("step " + std::to_string(last_step + 1));
      if (round >= 0)
        commits.push_back((seen.time_of("commit " + std::to_string(last_step) + " 0") - stood) * 1e3);
      seen.time_of("commit " + std::to_string(last_step) + " 1");
      return went_on - stood;
    });
    const double anew = run([](watch& seen) {
      seen.time_of("step " + std::to_string(last_step + 1));
      return 0.0;
    });
    if (round >= 0) {
      growing.push_back(grown * 1e3);
      cold.push_back(anew * 1e3);
    }
  }
  s.compare({.name = name, .unit = "ms", .reference_name = "new job"}, growing, cold, true);
  s.note("  of these until the commit of the last step is told: " + std::to_string(median(commits)) + " ms");
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe::bench;
  try {
    suite s{"growth", argc, argv};
    measure(s, "784-256-128-10", troupe::dnn_classifier({.hidden_units = {256, 128}, .classes = 10}), 15);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_growth: %s\n", e.what());
    return 1;
  }
}
