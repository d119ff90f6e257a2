// Bagging: networks that train on parts of the data, in an ensemble that is judged on all of them.
#include <troupe/canned_models.hpp>
#include <troupe/search/auto_ensemble.hpp>
#include <troupe/search/searcher.hpp>
#include <troupe/troupe.hpp>

#include <cstdlib>

namespace tr = troupe;

int main(int argc, char** argv) {
  const auto data = tr::fashion_mnist("/usr/share/datasets/fashion-mnist");
  if (!data)
    return tr::print_error(data.error());

  // pool begins
  const tr::model network = tr::dnn_model(
      {.hidden_units = {64}, .head = tr::multi_class_head{.classes = 10}, .optimizer = tr::adam{}});
  tr::model_list pool;
  for (const int64_t third : {0, 1, 2})
    pool.push_back({.model = network,
                    .name = "third_" + std::to_string(third),
                    .train_input = data->train.skip(20000 * third).take(20000).shuffle().batch(64).repeat()});
  // pool ends
  const tr::searcher searcher{{.head = tr::multi_class_head{.classes = 10},
                               .subnetwork_generator = tr::generators::auto_ensemble({.pool = pool}),
                               .max_iteration_steps = argc > 1 ? std::atoi(argv[1]) : 300,
                               .ensemblers = {tr::mean_ensembler{}},
                               .ensemble_strategies = {tr::strategy::all()},
                               .max_iterations = 1},
                              {.model_dir = "runs/bagging", .seed = 1}};
  return tr::print_result(tr::train_and_evaluate(searcher, {.input = data->train.shuffle().batch(64).repeat()},
                                                 {{.input = data->test.batch(500)}}));
}
