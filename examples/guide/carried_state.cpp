// A model that remembers one step: the label of a bit is the bit before it in its stream. Without a state that is a
// guess; with one that lasts the run it is certain.
#include <troupe/troupe.hpp>

#include <iostream>

namespace tr = troupe;

namespace {

constexpr int64_t streams = 8;

/// 0 and 1 without an order, and after each of them the one before it.
tr::expected<tr::dataset> bits(int64_t count) {
  std::vector<int32_t> x(static_cast<size_t>(count)), before(static_cast<size_t>(count));
  uint32_t state = 12345;
  for (size_t i = 0; i < x.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    x[i] = static_cast<int32_t>(state >> 31);
    before[i] = i > 0 ? x[i - 1] : 0;
  }
  return tr::dataset::from_tensors({{"x", tr::tensor::of<int32_t>({count}, x)}},
                                   {{"before", tr::tensor::of<int32_t>({count}, before)}});
}

// model begins
tr::model remembering(tr::lifetime lasts) {
  return {"remembering", [lasts](tr::graph& g, const tr::features& in, const tr::labels& y, tr::mode mode) {
            const auto batch = in["x"].dims()[0];
            const auto memory = g.state({.name = "memory", .dims = {batch, 2}, .lasts = lasts});
            g.carry(memory, tr::one_hot(in["x"], 2));  // What the next step reads, row by row.
            return tr::multi_class_head{.classes = 2}.spec(
                g, {.mode = mode,
                    .logits = tr::nn::dense(memory, {.units = 2, .kernel = tr::init::zeros()}),
                    .labels = y.only(),
                    .optimizer = tr::adam{.rate = 0.05f}});
          }};
}
// model ends

// hook begins
struct print_loops : tr::hook {
  tr::needs begin(int64_t) override { return {.loops = true}; }
  void on_loop(const tr::loop_facts& loop, tr::job_control&) override {
    std::cout << "steps " << loop.first << " to " << loop.end << ": loss " << loop.mean_loss << ", at last "
              << loop.last_loss << "\n";
  }
};
// hook ends

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : "runs/memory";
  const auto data = bits(8000), unseen = bits(800);
  if (!data)
    return tr::print_error(data.error());
  std::cout.precision(2);
  for (const auto lasts : {tr::lifetime::run, tr::lifetime::loop}) {
    const bool run = lasts == tr::lifetime::run;
    std::vector<std::shared_ptr<tr::hook>> hooks;
    if (run)
      hooks.push_back(std::make_shared<print_loops>());
    // train begins
    const tr::estimator estimator{
        remembering(lasts),
        {.model_dir = directory + (run ? "-run" : "-loop"), .steps_per_loop = run ? 100 : 1, .replicas = 2}};
    const auto result = tr::train_and_evaluate(
        estimator, {.input = data->streams(streams).batch(streams).repeat(), .max_steps = 300, .hooks = hooks},
        {.input = unseen->streams(streams).batch(streams)});
    // train ends
    if (!result)
      return tr::print_error(result.error());
    std::cout << "memory of the " << (run ? "run" : "loop") << ": accuracy " << result->metrics.at("accuracy") << "\n";
  }
  return 0;
}
