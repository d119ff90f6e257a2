// The cost of a checkpoint of 1 GiB for a job that trains a 784-128-10 network on real threads and a real disk.
//
//   stall   how long the trainer is delayed, compared with one warm copy of as many bytes in memory: the time from the
//           end of the last update before the state is lent to the begin of the next step, and the time that the
//           update after it, which goes into the other arena, takes longer than a normal one (in the thread's own
//           processor time, since delays by other programs are no cost of the checkpoint)
//   write   from lending the state until the commit is known, compared with writing and syncing as many bytes from
//           memory while the trainer runs as well
//   rate    steps a second in that time, compared with as long a time without a save
//
// The GiB is a variable in addition to the network: either one that no step updates ("fixed"), or one with Adam's two
// slots that every step updates ("trained"). Everything is measured again in every round. Files go to a new folder in
// $TMPDIR, otherwise in ./build.
#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/prepared_job.hpp"
#include "storage/checkpoints/checkpoint_files.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/classifier_case.hpp"
#include "tests/bench/scratch_folder.hpp"
#include "tests/support/wrapped_engine.hpp"

#include <condition_variable>
#include <mutex>

namespace troupe::bench {
namespace {

constexpr int64_t state_bytes = int64_t{1} << 30;
constexpr std::chrono::seconds deadline{120};

double wall() { return now(clock_kind::wall); }

[[noreturn]] void give_up(const std::string& text) { throw std::runtime_error(text); }

template <class T>
T need_of(expected<T> x) {
  if (!x)
    give_up(to_text(x.error()));
  if constexpr (!std::is_void_v<T>)
    return std::move(*x);
}

/// The network, with a GiB of additional state.
model with_ballast(bool trained) {
  auto network = classifier();
  return model{"classifier", [network, trained](graph& g, const features& x, const labels& y, mode m) {
                 auto spec = network.build(g, x, y, m);
                 const int64_t elements = state_bytes / 4 / (trained ? 3 : 1);
                 // Random numbers, since a disk may store zeros more cheaply.
                 const symbol ballast = g.variable(
                     {.name = "ballast", .dims = {elements}, .initial = init::uniform(-1, 1), .trainable = trained});
                 if (trained)
                   spec.loss = spec.loss + scale(reduce_mean(ballast), 1e-6);
                 return spec;
               }};
}

struct lap {
  double begin = 0;     ///< When the gradients begin.
  double end = 0;       ///< When the update, and so the step, ends.
  double update = 0;    ///< Processor time of the update.
  bool copied = false;  ///< The reference copy was made just before this step.
};

/// Records the times of every step. On request it copies memory in the trainer's thread.
class timed_engine final : public test::wrapped_engine {
 public:
  timed_engine(std::shared_ptr<step_engine> inner, const std::byte* state)
    : wrapped_engine(std::move(inner)), state_(state), copy_(allocate_buffer(state_bytes)) {
    if (!copy_)
      give_up("no memory for the copy");
    std::memset(copy_.get(), 1, state_bytes);
  }

  step_status gradients(int64_t step, const batch_feeds& in, int arena) override {
    current_ = {};
    if (copy_wanted_.load(std::memory_order_acquire)) {
      const double start = wall();
      std::memcpy(copy_.get(), state_, state_bytes);
      current_.copied = true;
      std::lock_guard lock{guard_};
      copy_seconds_ = wall() - start;
      copy_wanted_ = false;
      changed_.notify_all();
    }
    current_.begin = wall();
    return wrapped_engine::gradients(step, in, arena);
  }
  void apply(int64_t step, const tensor& sum, int from, int to) override {
    const double start = now(clock_kind::thread);
    wrapped_engine::apply(step, sum, from, to);
    current_.update = now(clock_kind::thread) - start;
    std::lock_guard lock{guard_};
    current_.end = wall();
    laps_.push_back(current_);
    changed_.notify_all();
  }
  std::vector<stored_piece> pieces(int arena) const override {
    {
      std::lock_guard lock{guard_};
      lent_ = wall();
    }
    return wrapped_engine::pieces(arena);
  }

  double copy() {
    std::unique_lock lock{guard_};
    copy_wanted_ = true;
    if (!changed_.wait_for(lock, deadline, [this] { return !copy_wanted_; }))
      give_up("the trainer did not copy in time");
    return copy_seconds_;
  }
  const std::byte* copied() const { return copy_.get(); }
  double lent() const {
    std::lock_guard lock{guard_};
    return lent_;
  }
  void wait_past(double time) {
    std::unique_lock lock{guard_};
    if (!changed_.wait_for(lock, deadline, [&] { return !laps_.empty() && laps_.back().begin > time; }))
      give_up("no step ended in time");
  }
  std::vector<lap> laps() const {
    std::lock_guard lock{guard_};
    return laps_;
  }

 private:
  const std::byte* state_;
  std::shared_ptr<std::byte> copy_;
  std::atomic<bool> copy_wanted_{false};
  lap current_;
  mutable std::mutex guard_;
  std::condition_variable changed_;
  mutable double lent_ = 0;
  double copy_seconds_ = 0;
  std::vector<lap> laps_;
};

/// Records commits.
class commits final : public hook {
 public:
  void on_event(const job_event& e, job_control&) override {
    std::lock_guard lock{guard_};
    if (e.what == job_event::kind::failed)
      failure_ = to_text(*e.failure);
    if (e.what == job_event::kind::saved)
      saved_.emplace_back(e.step, wall());
    changed_.notify_all();
  }
  /// Waits for the `n`-th commit, counted from 1, and returns its step and time.
  std::pair<int64_t, double> wait(size_t n) {
    std::unique_lock lock{guard_};
    if (!changed_.wait_for(lock, deadline, [&] { return saved_.size() >= n || !failure_.empty(); }))
      give_up("no commit in time");
    if (!failure_.empty())
      give_up(failure_);
    return saved_[n - 1];
  }

 private:
  std::mutex guard_;
  std::condition_variable changed_;
  std::vector<std::pair<int64_t, double>> saved_;
  std::string failure_;
};

/// Steps a second between two times. A step that lies only partly between them counts in proportion.
double rate_between(const std::vector<lap>& laps, double from, double to) {
  double steps = 0;
  for (size_t i = 1; i < laps.size(); ++i) {
    const double begin = laps[i - 1].end, end = laps[i].end;
    steps += std::max(0.0, std::min(end, to) - std::max(begin, from)) / (end - begin);
  }
  return steps / (to - from);
}

/// The stall: the delay before the step after `lent`, and the extra time of its update.
double stall_at(const std::vector<lap>& laps, double lent, double quiet_from, double quiet_to) {
  std::vector<double> normal;
  for (const auto& l : laps)
    if (l.begin >= quiet_from && l.end <= quiet_to && !l.copied)
      normal.push_back(l.update);
  for (size_t i = 1; i < laps.size(); ++i)
    if (laps[i].begin >= lent)
      return laps[i].begin - laps[i - 1].end + std::max(0.0, laps[i].update - median(normal));
  give_up("no step followed the save");
}

/// Writes and syncs `state_bytes` from memory: the same calls as for a checkpoint, and nothing else.
double plain_write(file_system& files, const std::string& path, const std::byte* bytes) {
  constexpr int64_t chunk = int64_t{1} << 20;
  const double start = wall();
  auto file = need_of(files.create(path));
  for (int64_t at = 0; at < state_bytes; at += chunk)
    need_of(file->append({bytes + at, static_cast<size_t>(chunk)}));
  need_of(file->sync());
  need_of(file->close());
  const double seconds = wall() - start;
  need_of(files.remove(path));
  return seconds;
}

void measure(suite& s, bool trained, int rounds) {
  const scratch_folder folder{"bench_checkpoint"};
  const auto saved = std::make_shared<commits>();
  const auto config = need_of(resolve_config({.model_dir = join_path(folder.path(), "run"),
                                              .seed = 1,
                                              .save_checkpoints_secs = 1e6,
                                              .keep_checkpoint_max = 0,
                                              .log_step_count_steps = std::nullopt}));
  const training_job job_of_images{
      .basis = {.source = std::make_shared<const model>(with_ballast(trained)), .config = config},
      .input = made_up_images(32),
      .max_steps = int64_t{1} << 40,
      .hooks = {saved}};
  const auto prepared = need_of(prepare(job_of_images));
  auto& crew = prepared->in(mode::train);
  const auto engine = std::make_shared<timed_engine>(crew.engines.front(),
                                                     trained ? crew.parameters->arena(0) : crew.parameters->shared());
  crew.engines.front() = engine;
  const auto files = prepared->basis().files;

  std::vector<double> stalls, copies, written, plain, rates, quiet_rates;
  {
    const auto job = local_launcher{}.train(prepared);
    const auto removed = [&](int64_t step) {
      need_of(remove_checkpoint_files(*files, join_path(folder.path(), "run"), {step}));
    };
    removed(saved->wait(1).first);  // The save of state 0.
    engine->wait_past(wall());
    for (int round = 0; round < rounds; ++round) {
      const auto reference = [&] {
        copies.push_back(engine->copy() * 1e3);
        plain.push_back(1 / plain_write(*files, join_path(folder.path(), "plain"), engine->copied()));
      };
      if (round % 2 == 1)
        reference();
      engine->wait_past(wall());
      job->save();
      const auto [step, durable] = saved->wait(static_cast<size_t>(round) + 2);
      const double lent = engine->lent(), taken = durable - lent;
      removed(step);
      engine->wait_past(wall());
      const double quiet_from = wall();
      if (job->wait(std::chrono::milliseconds{static_cast<int64_t>(taken * 1e3)}))
        give_up("the job ended");
      const double quiet_to = wall();
      engine->wait_past(quiet_to);
      if (round % 2 == 0)
        reference();
      const auto laps = engine->laps();
      stalls.push_back(stall_at(laps, lent, quiet_from, quiet_to) * 1e3);
      written.push_back(1 / taken);
      rates.push_back(rate_between(laps, lent, durable));
      quiet_rates.push_back(rate_between(laps, quiet_from, quiet_to));
    }
    job->abort();
  }
  const std::string name = trained ? "trained" : "fixed";
  s.compare({.name = "stall/" + name, .unit = "ms", .reference_name = "one warm copy of 1 GiB"}, stalls, copies, true);
  s.compare({.name = "write/" + name, .unit = "GiB/s", .reference_name = "plain write and fsync of 1 GiB"}, written,
            plain, false);
  s.compare({.name = "rate/" + name, .unit = "steps/s", .reference_name = "the same job without a save in flight"},
            rates, quiet_rates, false);
}

/// Measures the store alone, without training.
void measure_store(suite& s, int rounds) {
  const scratch_folder folder{"bench_checkpoint"};
  const auto files = posix_file_system();
  checkpoint_content content;
  constexpr int64_t tensors = 16;
  for (int64_t i = 0; i < tensors; ++i) {
    const int64_t words = state_bytes / tensors / 4;
    auto buffer = allocate_buffer(words * 4);
    if (!buffer)
      give_up("no memory for the tensors");
    auto* values = reinterpret_cast<uint32_t*>(buffer.get());
    for (int64_t k = 0; k < words; ++k)
      values[k] = static_cast<uint32_t>(k * 2654435761u + i) & 0x3fffffff;  // Neither compressible nor NaN.
    content.tensors.push_back({"t" + std::to_string(i), {dtype::float32, {words}, buffer}});
  }
  const auto reference = allocate_buffer(state_bytes);
  if (!reference)
    give_up("no memory for the reference");
  for (int64_t i = 0; i < tensors; ++i)
    std::memcpy(reference.get() + i * state_bytes / tensors, content.tensors[static_cast<size_t>(i)].value.data(),
                state_bytes / tensors);
  auto store = need_of(checkpoint_store::open(files, join_path(folder.path(), "store"), {.keep_checkpoint_max = 0}));
  std::vector<double> written, plain;
  for (int round = 0; round < rounds; ++round) {
    const auto plainly = [&] {
      plain.push_back(1 / plain_write(*files, join_path(folder.path(), "plain"), reference.get()));
    };
    if (round % 2 == 1)
      plainly();
    content.id.step = round;
    const double start = wall();
    need_of(store->commit(content));
    written.push_back(1 / (wall() - start));
    need_of(remove_checkpoint_files(*files, join_path(folder.path(), "store"), {round}));  // The deletion is not timed.
    if (round % 2 == 0)
      plainly();
  }
  s.compare({.name = "write/store alone", .unit = "GiB/s", .reference_name = "plain write and fsync of 1 GiB"}, written,
            plain, false);
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe::bench;
  try {
    suite s{"checkpoint", argc, argv};
    measure(s, false, 7);
    measure(s, true, 5);
    measure_store(s, 7);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_checkpoint: %s\n", e.what());
    return 1;
  }
}
