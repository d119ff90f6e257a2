// Trains a small classifier in a separate process and prints its progress on standard output, line by line:
//
//   trainer MODEL_DIR MAX_STEPS [GATE]
//
//   started 840 · step 841 · saved 900 · gate 921 · metric accuracy 0x1.a5p-1 · done 3000 · error TEXT
//
// At state GATE, training is held until standard input ends, so that a slow test does not miss a fast trainer.
#include <troupe/troupe.hpp>

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace tr = troupe;

namespace {

constexpr int64_t save_every = 60;

struct narrator final : tr::hook {
  explicit narrator(std::optional<int64_t> g) : gate(g) {}

  tr::needs begin(int64_t step) override {
    if (!gate)
      return {};
    return {.steps = {{.first = std::max(*gate, step + 1), .gate = true}}};
  }
  void on_step(const tr::step_facts& facts, tr::job_control&) override {
    say("gate", facts.step);
    char byte;
    while (::read(STDIN_FILENO, &byte, 1) > 0) {}
  }
  void on_event(const tr::job_event& e, tr::job_control&) override {
    switch (e.what) {
      case tr::job_event::kind::started: return say("started", e.step);
      case tr::job_event::kind::progress: return say("step", e.step);
      case tr::job_event::kind::saved: return say("saved", e.step);
      case tr::job_event::kind::warning: std::fprintf(stderr, "trainer: %s\n", e.text.c_str()); return;
      default: return;
    }
  }

  static void say(const char* what, int64_t step) {
    std::printf("%s %" PRId64 "\n", what, step);
    std::fflush(stdout);
  }

  std::optional<int64_t> gate;
};

int give_up(const tr::error& e) {
  std::printf("error %s\n", to_text(e).c_str());
  return 1;
}

/// Replaces Fashion-MNIST if it is not installed: as many pixels, pseudo-random but always the same.
tr::expected<tr::train_and_test> made_up() {
  constexpr int64_t rows = 2'000, columns = 784;
  std::vector<float> pixels(rows * columns);
  std::vector<int32_t> labels(rows);
  uint32_t state = 1;
  for (float& p : pixels)
    p = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-24f;
  for (size_t r = 0; r < labels.size(); ++r)
    labels[r] = static_cast<int32_t>(pixels[r * columns] * 10);
  auto data = tr::dataset::from_tensors({{"pixels", tr::tensor::of<float>({rows, columns}, pixels)}},
                                        {{"label", tr::tensor::of<int32_t>({rows}, labels)}});
  if (!data)
    return tr::fail(data.error());
  return tr::train_and_test{*data, *data};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3)
    return 2;
  auto images = tr::fashion_mnist("/usr/share/datasets/fashion-mnist");
  if (!images)
    images = made_up();
  if (!images)
    return give_up(images.error());

  const auto hook = std::make_shared<narrator>(argc > 3 ? std::optional{std::atoll(argv[3])} : std::nullopt);
  const tr::estimator estimator{
      tr::dnn_classifier({.hidden_units = {32}, .classes = 10, .optimizer = tr::adam{}, .dropout = 0.1}),
      {.model_dir = argv[1],
       .seed = 7,
       .save_checkpoints_steps = save_every,
       .keep_checkpoint_max = 2,
       .log_step_count_steps = 1}};
  // Evaluations run beside training, and training goes on during saves, so that a kill can hit both.
  const auto result = tr::train_and_evaluate(
      estimator,
      {.input = images->train.shuffle().batch(64).repeat(), .max_steps = std::atoll(argv[2]), .hooks = {hook}},
      {.input = images->test.take(1'000).batch(250), .throttle_secs = 3600, .when = tr::evaluation_mode::beside});
  if (!result)
    return give_up(result.error());
  for (const auto& [name, value] : result->metrics)
    std::printf("metric %s %a\n", name.c_str(), value);
  narrator::say("done", result->global_step);
  return 0;
}
