// Trains a small model in a separate process, with a slow input and a slow hook:
//
//   slow_trainer MODEL_DIR BATCH_MS HOOK_MS DEADLINE_MS
//
// Obeys "stop" and "abort" on standard input, and the signals that the `troupe` program obeys. Prints "at STEP
// RESIDENT_KB" repeatedly, and "ended STEP stopped|done|failed HOOKS_ENDED TEXT" once. There is no hook if HOOK_MS is
// below 0. Every wait has the deadline DEADLINE_MS; 0: the default deadlines.
#include "cli/terminal/signals.hpp"
#include "messages/control.hpp"
#include "pipeline/launch/launcher.hpp"
#include "support/resident.hpp"
#include "support/small_job.hpp"

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace troupe::test {

namespace {

using std::chrono::milliseconds;

/// Reads like a slow device that cannot be interrupted by a stop token.
class slow_stage final : public dataset_stage {
 public:
  slow_stage(const dataset& inner, int batch_ms) : inner_(inner.last_stage()), batch_ms_(batch_ms) {}
  element_spec spec() const override { return inner_->spec(); }
  std::string to_text() const override { return inner_->to_text() + " -> slow"; }
  std::optional<int64_t> source_size() const override { return inner_->source_size(); }
  std::optional<int64_t> elements(bool drop) const override { return inner_->elements(drop); }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const override {
    auto inner = inner_->iterate(options);
    if (!inner)
      return inner;
    return std::make_unique<iterator>(std::move(*inner), batch_ms_);
  }

 private:
  class iterator final : public dataset_iterator {
   public:
    iterator(std::unique_ptr<dataset_iterator> inner, int batch_ms) : inner_(std::move(inner)), batch_ms_(batch_ms) {}
    const element_spec& spec() const noexcept override { return inner_->spec(); }
    int64_t batch_rows() const noexcept override { return inner_->batch_rows(); }
    expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
      if (batch_ms_ > 0)
        ::poll(nullptr, 0, batch_ms_);
      return inner_->read(into, stop);
    }
    expected<std::string> save() const override { return inner_->save(); }
    expected<void> restore(std::string_view state) override { return inner_->restore(state); }

   private:
    std::unique_ptr<dataset_iterator> inner_;
    int batch_ms_;
  };
  std::shared_ptr<const dataset_stage> inner_;
  int batch_ms_;
};

/// A slow hook that sees every step.
struct slow_hook final : hook {
  explicit slow_hook(int ms) : call_ms(ms) {}
  needs begin(int64_t step) override { return {.steps = {{.first = step + 1, .every = 1}}}; }
  void on_step(const step_facts&, job_control&) override {
    if (call_ms > 0)
      ::poll(nullptr, 0, call_ms);
  }
  void end(int64_t) override { ended = true; }
  void on_abort(const error&) override { ended = true; }
  int call_ms;
  std::atomic<bool> ended = false;
};

int train(cli::signal_watch& signals, const std::string& directory, int batch_ms, int hook_ms, int deadline_ms) {
  small_job_options o{
      .max_steps = 1'000'000'000,
      .save_steps = 1'000'000,
      .input = dataset{std::make_shared<slow_stage>(small_dataset().shuffle().batch(4).repeat(), batch_ms)},
      .files = posix_file_system()};
  const auto watching = std::make_shared<slow_hook>(hook_ms);
  if (hook_ms >= 0)
    o.hooks = {watching};
  auto description = describe_small(o);
  description.basis.config.model_dir = directory;
  if (deadline_ms > 0) {
    const milliseconds each{deadline_ms};
    description.basis.deadlines = {
        .start = each, .silence = each, .save = each, .evaluation = each, .hooks = each, .stop = each};
  }
  auto prepared = prepare(std::move(description));
  if (!prepared)
    return std::printf("ended 0 failed 0 %s\n", to_text(prepared.error()).c_str()), 1;
  const auto job = local_launcher{}.train(std::move(*prepared));
  signals.at_first([&job] { job->ask(request::stop, stop_reason::signal); });

  std::string heard;
  int64_t shown = -1;
  for (;;) {
    if (const auto result = job->wait(milliseconds{0})) {
      if (*result)
        std::printf("ended %lld %s %d \n", static_cast<long long>((*result)->global_step),
                    (*result)->stopped ? "stopped" : "done", watching->ended.load());
      else
        std::printf("ended %lld failed %d %s\n", static_cast<long long>(job->progress().step), watching->ended.load(),
                    to_text(result->error()).c_str());
      std::fflush(stdout);
      signals.at_first({});
      return 0;
    }
    pollfd said{STDIN_FILENO, POLLIN, 0};
    char bytes[64];
    if (::poll(&said, 1, 20) > 0) {
      const auto n = ::read(STDIN_FILENO, bytes, sizeof bytes);
      if (n <= 0)
        std::_Exit(1);  // The test has closed the pipe.
      heard.append(bytes, static_cast<size_t>(n));
    }
    if (heard.find("stop\n") != std::string::npos)
      job->ask(request::stop);
    if (heard.find("abort\n") != std::string::npos)
      job->ask(request::abort);
    heard.clear();
    if (const auto step = job->progress().step; step != shown) {
      shown = step;
      std::printf("at %lld %lld\n", static_cast<long long>(step), static_cast<long long>(resident_bytes() >> 10));
      std::fflush(stdout);
    }
  }
}

}  // namespace

}  // namespace troupe::test

int main(int argc, char** argv) {
  if (argc != 5)
    return 2;
  troupe::cli::signal_watch signals;
  return troupe::test::train(signals, argv[1], std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]));
}
