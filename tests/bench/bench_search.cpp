// A search of three iterations of 1,000 ticks, each with two dense networks of width 128 and an ensemble of each with
// learned weights, on made-up images in memory. The reference trains the same networks for as many steps in bare loops,
// two at once, without ensembles, evaluations, commits or plans.
//
// Files go to a new folder in $TMPDIR, otherwise in ./build.
#include "tests/bench/bench.hpp"
#include "tests/bench/classifier_case.hpp"
#include "tests/bench/our_step.hpp"
#include "tests/bench/scratch_folder.hpp"

#include <troupe/search/generators.hpp>
#include <troupe/search/searcher.hpp>

#include <cmath>
#include <map>
#include <thread>

namespace troupe::bench {
namespace {

constexpr int64_t iterations = 3, ticks = 1000, width = 128;

double wall() { return now(clock_kind::wall); }

/// When the last tick of each iteration and the first one of the next had ended.
struct watch final : hook {
  needs begin(int64_t) override {
    needs all;
    for (int64_t t = 1; t < iterations; ++t)
      all.steps.insert(all.steps.end(), {{.first = t * ticks}, {.first = t * ticks + 1}});
    return all;
  }
  void on_step(const step_facts& f, job_control&) override { at[f.step] = wall(); }
  std::map<int64_t, double> at;
};

/// Hidden layers: one in iteration 0, and one more in each later one.
std::vector<builder> networks(const generator_input& in) {
  std::vector<builder> all;
  for (const int64_t depth : {in.iteration + 1, in.iteration + 2})
    all.push_back({.name = std::to_string(depth) + "_layers",
                   .build = [depth](graph&, const build_context& c) -> subnetwork {
                     symbol h = c.features["pixels"];
                     for (int64_t i = 0; i < depth; ++i)
                       h = nn::dense(h, {.units = width, .activation = relu});
                     return {.last_layer = h,
                             .logits = nn::dense(h, {.units = classes}),
                             .complexity = std::sqrt(static_cast<double>(depth))};
                   },
                   .optimizer = adam{}});
  return all;
}

/// Seconds of a whole search; adds the pauses between its iterations, in ms.
double search(std::vector<double>& pauses) {
  const scratch_folder folder{"bench_search"};
  const auto seen = std::make_shared<watch>();
  const searcher s{{.head = multi_class_head{.classes = classes},
                    .subnetwork_generator = networks,
                    .max_iteration_steps = ticks,
                    .ensemblers = {complexity_regularized_ensembler{.optimizer = adam{}, .adanet_lambda = 0.005}},
                    .max_iterations = iterations},
                   {.model_dir = folder.path() + "/run", .seed = 1}};
  const auto data = made_up_images(32);
  const double start = wall();
  must(train(s, {.input = data, .hooks = {seen}}));
  const double seconds = wall() - start;
  for (int64_t t = 1; t < iterations; ++t)
    pauses.push_back((seen->at.at(t * ticks + 1) - seen->at.at(t * ticks)) * 1e3);
  return seconds;
}

double bare_loops() {
  const double start = wall();
  for (int64_t t = 0; t < iterations; ++t) {
    std::vector<std::thread> both;
    for (const int64_t depth : {t + 1, t + 2})
      both.emplace_back([depth] {
        std::vector<int64_t> widths{image_values};
        widths.insert(widths.end(), static_cast<size_t>(depth), width);
        widths.push_back(classes);
        our_step{dense_model(widths, batch_rows), adam{}}.run(ticks);
      });
    for (auto& one : both)
      one.join();
  }
  return wall() - start;
}

void measure(suite& s, int rounds) {
  std::vector<double> ours, bare, pauses;
  for (int round = -1; round < rounds; ++round) {  // The first round only warms up.
    std::vector<double> gaps;
    const double searched = search(gaps), looped = bare_loops();
    if (round < 0)
      continue;
    ours.push_back(searched);
    bare.push_back(looped);
    pauses.insert(pauses.end(), gaps.begin(), gaps.end());
  }
  s.compare({.name = "3 x 1,000 ticks", .unit = "s", .reference_name = "bare loops"}, ours, bare, true);
  s.note("  from the last tick of an iteration to the first of the next: " + std::to_string(median(pauses)) + " ms");
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  troupe::bench::suite s{"search", argc, argv};
  troupe::bench::measure(s, 5);
}
