// Builders of one's own: networks that read their forerunners, learn from the ensemble before, and stop by themselves.
#include <troupe/search/generators.hpp>
#include <troupe/search/searcher.hpp>
#include <troupe/troupe.hpp>

#include <cmath>
#include <cstdlib>
#include <iostream>

namespace tr = troupe;

// builder begins
/// A network whose layers also read the last hidden layer of the newest member.
tr::subnetwork layers(tr::graph&, const tr::build_context& c, int64_t depth) {
  tr::symbol h = tr::nn::flatten(c.features.only());
  if (c.previous)
    h = tr::concat({h, c.previous->output(c.previous->recipe.members.size() - 1, "hidden")});
  for (int64_t i = 0; i < depth; ++i)
    h = tr::nn::dense(h, {.units = 64, .activation = tr::relu});
  return {.last_layer = h,
          .logits = tr::nn::dense(h, {.units = c.logits_dimension}),
          .complexity = std::sqrt(static_cast<double>(depth)),
          .outputs = {{"hidden", h}}};
}
// builder ends

// distillation begins
/// The loss of the head, and that against the answers of the ensemble before: knowledge distillation (Hinton et al.
/// 2015), by which a member of a search learns from all before it.
tr::subnetwork_training distilled(tr::graph&, const tr::subnetwork& made, tr::symbol loss, const tr::build_context& c) {
  if (c.previous)
    loss = loss + tr::losses::softmax_cross_entropy(tr::softmax(c.previous->logits()), made.logits.one());
  return {.loss = loss, .optimizer = tr::adam{}};
}
// distillation ends

// hook begins
/// Stops a network whose mean loss of 50 steps has not fallen.
class stop_when_flat : public tr::hook {
 public:
  tr::needs begin(int64_t) override {
    return {.steps = {{.first = 1, .every = 1}, {.first = 50, .every = 50, .gate = true}}};
  }
  void on_step(const tr::step_facts& step, tr::job_control& job) override {
    const auto loss = step.values.find("loss");
    if (loss == step.values.end() || loss->second.elements() == 0)
      return;
    sum_ += static_cast<double>(loss->second.as<float>()[0]);
    if (step.step % 50 != 0)
      return;
    if (sum_ >= before_)
      job.stop();
    before_ = std::exchange(sum_, 0);
  }

 private:
  double sum_ = 0, before_ = HUGE_VAL;
};
// hook ends

int main(int argc, char** argv) {
  const auto data = tr::fashion_mnist("/usr/share/datasets/fashion-mnist");
  if (!data)
    return tr::print_error(data.error());

  // search begins
  const auto networks = [](const tr::generator_input& in) {
    std::vector<tr::builder> all;
    for (const int64_t depth : {in.iteration + 1, in.iteration + 2})
      all.push_back(
          {.name = std::to_string(depth) + "_layers",
           .build = [depth](tr::graph& g, const tr::build_context& c) { return layers(g, c, depth); },
           .train = distilled,
           .hooks = [] { return std::vector<std::shared_ptr<tr::hook>>{std::make_shared<stop_when_flat>()}; }});
    return all;
  };
  const tr::searcher searcher{{.head = tr::multi_class_head{.classes = 10},
                               .subnetwork_generator = networks,
                               .max_iteration_steps = argc > 1 ? std::atoi(argv[1]) : 400,
                               .ensemblers = {tr::mean_ensembler{}},
                               .evaluator = tr::search_evaluator{.input = data->train.take(5000).batch(500)},
                               .max_iterations = 2},
                              {.model_dir = "runs/builders", .seed = 1}};
  // search ends
  return tr::print_result(tr::train_and_evaluate(
      searcher, {.input = data->train.skip(5000).shuffle().batch(64).repeat()}, {{.input = data->test.batch(500)}}));
}
