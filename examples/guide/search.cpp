// A search for an ensemble on Fashion-MNIST: `search [STEPS]`, of each iteration. Its page quotes it in pieces.
// search begins
#include <troupe/search/generators.hpp>
#include <troupe/search/searcher.hpp>
#include <troupe/troupe.hpp>

#include <cstdlib>
#include <iostream>

namespace tr = troupe;

/// Prints the choices of a search.
struct print_choices : tr::hook {
  void on_event(const tr::job_event& event, tr::job_control&) override {
    if (event.what != tr::job_event::kind::chosen && event.what != tr::job_event::kind::grown)
      return;
    std::cout << to_text(event) << "\n";
    for (const auto& [candidate, score] : event.metrics)
      std::cout << "  " << candidate << " " << score << "\n";
  }
};

int main(int argc, char** argv) {
  const auto data = tr::fashion_mnist("/usr/share/datasets/fashion-mnist");
  if (!data)
    return tr::print_error(data.error());

  const tr::searcher searcher{
      {.head = tr::multi_class_head{.classes = 10},
       .subnetwork_generator = tr::generators::simple_dnn({.optimizer = tr::adam{}, .layer_size = 64}),
       .max_iteration_steps = argc > 1 ? std::atoi(argv[1]) : 400,
       .ensemblers = {tr::complexity_regularized_ensembler{.optimizer = tr::adam{}, .adanet_lambda = 0.005}},
       .max_iterations = 3},
      {.model_dir = "runs/search", .seed = 1}};
  const auto found = tr::train_and_evaluate(
      searcher, {.input = data->train.shuffle().batch(64).repeat(), .hooks = {std::make_shared<print_choices>()}},
      {{.input = data->test.batch(500)}});
  if (const int status = tr::print_result(found); status != 0)
    return status;
  // search ends

  // winner begins
  const auto winner = tr::winner_of(searcher);
  if (!winner)
    return tr::print_error(winner.error());
  const auto judged = tr::evaluate(*winner, {.input = data->test.batch(500), .name = "winner"});
  if (!judged)
    return tr::print_error(judged.error());
  std::cout << winner->model.name << ": accuracy " << judged->metrics.at("accuracy") << "\n";
  // winner ends
  return 0;
}
