// Steps a second by the wall clock, in two comparisons. The whole actor pipeline is compared with the same program in a
// bare loop over batches in memory; one row has a gate at every step. (train_step compares that bare loop with loops
// written by hand.) The pipeline with summaries every 100 steps and a checkpoint every 10 s is compared with the
// pipeline without a model directory.
#include "tests/bench/bench.hpp"
#include "tests/bench/gated_job.hpp"
#include "tests/support/temporary_directory.hpp"

#include <troupe/nn.hpp>

#include <string_view>

namespace troupe::bench {
namespace {

struct classifier_shape {
  int64_t inputs, hidden, classes, batch;
  measured_model model() const { return dense_model({inputs, hidden, classes}, batch); }
};

/// The program behind infeed, replica, outfeed and chief, which reads the same batches from a dataset.
training_job piped(const classifier_shape& c, const optimizer& o, const batches& d, const run_config& config = {}) {
  std::vector<float> x;
  std::vector<int32_t> y;
  for (int64_t step = 0; step < static_cast<int64_t>(batches::count); ++step) {
    x.insert(x.end(), d.pixels(step), d.pixels(step) + c.batch * c.inputs);
    y.insert(y.end(), d.labels(step), d.labels(step) + c.batch);
  }
  const auto examples = static_cast<int64_t>(y.size());
  training_job job{.basis = {.source = nullptr, .config = must(resolve_config(config))},
                   .input = must(dataset::from_tensors({{"x", tensor::of<float>({examples, c.inputs}, x)}},
                                                       {{"y", tensor::of<int32_t>({examples}, y)}}))
                                .batch(c.batch)
                                .repeat()};
  job.basis.source = std::make_shared<const model>(
      model{c.model().name, [c, o](graph&, const features& f, const labels& l, mode) {
              const symbol h = nn::dense(f["x"], {.units = c.hidden, .activation = relu});
              return classify(nn::dense(h, {.units = c.classes}), l["y"], o);
            }});
  return job;
}

/// The cost of files: the step rate with event files and checkpoints, compared with that without a directory.
void compare_kept(suite& s, const classifier_shape& c, const optimizer& o, const std::string& name) {
  const our_step bare{c.model(), o};
  constexpr int64_t stride = 250;
  const test::temporary_directory directory;
  gated_job kept{piped(c, o, bare.data(), {.model_dir = directory / "model", .save_checkpoints_secs = 10.0}), stride};
  gated_job plain{piped(c, o, bare.data()), stride};
  s.compare(
      {.name = c.model().name + "/" + name + "/kept",
       .reference_name = "the pipeline without",
       .rounds = 41,
       .seconds = 0.5,
       .clock = clock_kind::wall,
       .granule = stride},
      [&](int64_t n) { kept.run(n); }, [&](int64_t n) { plain.run(n); });
}

/// `stride`: the number of steps from one gate to the next.
void compare(suite& s, const classifier_shape& c, const optimizer& o, const std::string& name, int64_t stride) {
  our_step bare{c.model(), o};
  gated_job through_actors{piped(c, o, bare.data()), stride};
  // Only multiples of the stride, so that each round ends at a gate.
  s.compare(
      {.name = c.model().name + "/" + name,
       .reference_name = "the same program in a bare loop",
       .rounds = 21,
       .seconds = 0.25,
       .clock = clock_kind::wall,
       .granule = stride},
      [&](int64_t n) { through_actors.run(n); }, [&](int64_t n) { bare.run(n); });
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe;
  bench::suite s{"step_rate", argc, argv};
  const bench::classifier_shape small{10, 16, 2, 32}, usual{784, 128, 10, 128};
  compare(s, small, momentum{}, "momentum/pipeline", 100'000);
  compare(s, small, adam{}, "adam/pipeline", 100'000);
  compare(s, usual, momentum{}, "momentum/pipeline", 250);
  compare(s, usual, adam{}, "adam/pipeline", 250);
  compare(s, small, momentum{}, "momentum/gated", 1);
  bench::compare_kept(s, usual, adam{}, "adam");
}
