// Steps a second, three ways: (a) through the whole actor pipeline, (b) the same program in a bare loop over batches that
// lie ready, (c) a loop written by hand on Eigen. Rows are (a)/(b) by the wall clock and (b)/(c) by the thread's; and (a) with
// summaries every 100 steps and a checkpoint every 10 s against (a) without.
#include "pipeline/launch.hpp"
#include "compute/denormals.hpp"
#include "compute/program.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/fma_peak.hpp"
#include "tests/bench/hand_written_mlp.hpp"
#include "tests/support/temporary_directory.hpp"

#include <troupe/nn.hpp>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string_view>

namespace troupe::bench {
namespace {

constexpr int64_t batches = 16;

struct model_case {
  int64_t inputs, hidden, classes, batch;
  std::string name() const { return std::to_string(inputs) + "-" + std::to_string(hidden) + "-" + std::to_string(classes); }
};

/// Batches that lie ready, aligned.
struct data {
  std::vector<std::shared_ptr<std::byte>> x, y;

  explicit data(const model_case& c) {
    uint32_t state = 1;
    const auto next = [&state] { return (state = state * 1664525 + 1013904223) >> 8; };
    for (int64_t b = 0; b < batches; ++b) {
      x.push_back(allocate_buffer(c.batch * c.inputs * 4));
      y.push_back(allocate_buffer(c.batch * 4));
      for (int64_t i = 0; i < c.batch * c.inputs; ++i)
        reinterpret_cast<float*>(x.back().get())[i] = static_cast<float>(next()) * 0x1p-24f;
      for (int64_t i = 0; i < c.batch; ++i)
        reinterpret_cast<int32_t*>(y.back().get())[i] = static_cast<int32_t>(next() % static_cast<uint32_t>(c.classes));
    }
  }
};

/// Our program: gradients, their check, the update.
class bare_loop {
 public:
  bare_loop(const model_case& c, const optimizer& o, const data& d) : data_(d) {
    const symbol x = graph_.placeholder("x", dtype::float32, {graph_.unknown("batch"), c.inputs});
    const symbol y = graph_.placeholder("y", dtype::int32, {graph_.unknown("batch")});
    const symbol h = nn::dense(x, {.units = c.hidden, .activation = relu});
    model_spec spec;
    spec.loss = reduce_mean(sparse_softmax_cross_entropy(nn::dense(h, {.units = c.classes}), y));
    spec.optimizer = o;
    layout_ = *parameter_layout::of(graph_, spec.optimizer);
    store_ = *parameter_store::create(layout_, 1);
    store_->initialise(1);
    program_ = std::move(*program::plan(graph_, spec, layout_, {.batch = c.batch}));
    gradient_ = allocate_buffer(layout_.gradient_bytes());
  }

  void run(int64_t steps) {
    const std::pair<int64_t, int64_t> whole{0, layout_.gradient_bytes()};
    step_input in{.step = step_, .parameters = store_->arena(0), .shared = store_->shared()};
    for (const int64_t end = step_ + steps; in.step < end; ++in.step) {
      const auto b = static_cast<size_t>(in.step % batches);
      const std::byte* feeds[] = {data_.x[b].get(), data_.y[b].get()};
      in.feeds = feeds;
      if (program_->gradients(in, gradient_.get()) != step_status::ok || !is_finite(layout_, whole, gradient_.get()))
        std::abort();
      program_->apply(in.step, whole, gradient_.get(), store_->arena(0), store_->arena(0));
    }
    step_ = in.step;
  }
  int64_t flops() const { return program_->flops(); }
  std::string to_text() const { return program_->to_text(); }

 private:
  const data& data_;
  graph graph_;
  parameter_layout layout_;
  std::shared_ptr<parameter_store> store_;
  std::unique_ptr<program> program_;
  std::shared_ptr<std::byte> gradient_;
  int64_t step_ = 0;
};

/// Opens the next `n` steps of a job, and waits until they are done: a gate at every multiple of `stride`.
class turnstile final : public hook {
 public:
  explicit turnstile(int64_t stride) : stride_(stride) {}
  std::vector<need> begin(int64_t step) override { return {{step + stride_, stride_, true}}; }
  void at(const step_facts& facts, job_control&) override {
    std::unique_lock lock{guard_};
    reached_ = facts.step;
    changed_.notify_all();
    changed_.wait(lock, [&] { return allowed_ > facts.step; });
  }
  void pass(int64_t steps) {
    std::unique_lock lock{guard_};
    const int64_t target = reached_ + steps / stride_ * stride_;
    allowed_ = target;
    changed_.notify_all();
    changed_.wait(lock, [&] { return reached_ >= target; });
  }
  void open() {
    std::lock_guard lock{guard_};
    allowed_ = INT64_MAX;
    changed_.notify_all();
  }

 private:
  const int64_t stride_;
  std::mutex guard_;
  std::condition_variable changed_;
  int64_t reached_ = 0, allowed_ = 0;
};

/// The same program behind infeed, replica, outfeed and chief, reading the same batches from a dataset.
class piped {
 public:
  piped(const model_case& c, const optimizer& o, const data& d, int64_t stride, run_config config = {}) : turnstile_(std::make_shared<turnstile>(stride)) {
    std::vector<float> x;
    std::vector<int32_t> y;
    for (size_t b = 0; b < d.x.size(); ++b) {
      const auto* rows = reinterpret_cast<const float*>(d.x[b].get());
      const auto* classes = reinterpret_cast<const int32_t*>(d.y[b].get());
      x.insert(x.end(), rows, rows + c.batch * c.inputs);
      y.insert(y.end(), classes, classes + c.batch);
    }
    const int64_t examples = c.batch * batches;
    job_description job;
    job.source = std::make_shared<const model>(model{c.name(), [c, o](graph&, const features& f, const labels& l, mode m) {
      model_spec spec{.mode = m};
      const symbol h = nn::dense(f["x"], {.units = c.hidden, .activation = relu});
      spec.loss = reduce_mean(sparse_softmax_cross_entropy(nn::dense(h, {.units = c.classes}), l["y"]));
      spec.optimizer = o;
      return spec;
    }});
    job.train_input = dataset::from_tensors({{"x", tensor::of<float>({examples, c.inputs}, x)}}, {{"y", tensor::of<int32_t>({examples}, y)}})
                        ->batch(c.batch).repeat();
    job.config = std::move(config);
    job.hooks = {turnstile_};
    job.deadlines.hooks = std::chrono::minutes{10};
    auto prepared = prepare(std::move(job));
    if (!prepared) {
      std::fprintf(stderr, "%s\n", to_string(prepared.error()).c_str());
      std::abort();
    }
    job_ = launch_local(std::move(*prepared));
  }
  ~piped() {
    job_->ask(2, false);
    turnstile_->open();
    job_->wait(std::chrono::seconds{30});
  }
  void run(int64_t steps) { turnstile_->pass(steps); }

 private:
  std::shared_ptr<turnstile> turnstile_;
  std::unique_ptr<running_job> job_;
};

/// What is kept costs the step rate: a directory with event files and checkpoints against none.
void compare_kept(suite& s, const model_case& c, const optimizer& o, std::string_view name) {
  const data d{c};
  constexpr int64_t stride = 250;
  const test::temporary_directory directory;
  piped kept{c, o, d, stride, {.model_dir = directory / "model", .save_checkpoints_secs = 10.0}};
  piped plain{c, o, d, stride};
  s.compare({.name = c.name() + "/" + std::string{name} + "/kept", .reference_name = "the pipeline without",
             .rounds = 41, .seconds = 0.5, .clock = clock_kind::wall, .granule = stride},
    [&](int64_t n) { kept.run(n); }, [&](int64_t n) { plain.run(n); });
}

void compare(suite& s, const model_case& c, const optimizer& o, hand_optimizer hand, std::string_view name) {
  const data d{c};
  bare_loop ours{c, o, d};
  const int64_t stride = c.inputs > 100 ? 250 : 100000;
  {
    piped through_actors{c, o, d, stride};
    // Whole strides only, so that a round ends where a gate is.
    s.compare({.name = c.name() + "/" + std::string{name} + "/pipeline", .reference_name = "the same program in a bare loop",
               .rounds = 21, .seconds = 0.25, .clock = clock_kind::wall, .granule = stride},
      [&](int64_t n) { through_actors.run(n); }, [&](int64_t n) { ours.run(n); });
  }
  hand_written_mlp theirs{c.inputs, c.hidden, c.classes, c.batch, hand};
  int64_t at = 0;
  const auto r = s.compare({.name = c.name() + "/" + std::string{name} + "/bare", .reference_name = "hand-written loop on Eigen", .probe = fma_peak},
    [&](int64_t n) { ours.run(n); },
    [&](int64_t n) {
      for (int64_t i = 0; i < n; ++i, ++at) {
        const auto b = static_cast<size_t>(at % batches);
        if (!std::isfinite(theirs.step(reinterpret_cast<const float*>(d.x[b].get()), reinterpret_cast<const int32_t*>(d.y[b].get()))))
          std::abort();
      }
    });
  const double steps_to_share = static_cast<double>(ours.flops()) / flops_of_peak_unit();
  char text[128];
  std::snprintf(text, sizeof text, "of a peak of %.1f GFLOP/s: ours %.2f, reference %.2f; a step takes %.2f us", r.probe * flops_of_peak_unit() * 1e-9,
                r.ours_per_probe * steps_to_share, r.reference_per_probe * steps_to_share, 1e6 / r.ours);
  s.note(text);
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe;
  const flush_denormals for_the_reference_too;
  bench::suite s{"step_rate", argc, argv};
  for (const bench::model_case& c : {bench::model_case{10, 16, 2, 32}, bench::model_case{784, 128, 10, 128}}) {
    compare(s, c, momentum{}, bench::hand_optimizer::momentum, "momentum");
    compare(s, c, adam{}, bench::hand_optimizer::adam, "adam");
  }
  bench::compare_kept(s, {784, 128, 10, 128}, adam{}, "adam");
}
