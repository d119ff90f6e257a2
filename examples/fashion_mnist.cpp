// Trains a dense classifier on Fashion-MNIST, evaluates as it goes, and goes on where it stopped when run again.
// README begins
#include <troupe/troupe.hpp>
namespace tr = troupe;

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : "runs/fashion";
  const int steps = argc > 2 ? std::atoi(argv[2]) : 1170;
  const auto images = tr::fashion_mnist("/usr/share/datasets/fashion-mnist");
  if (!images)
    return tr::print_error(images.error());
  const auto model = tr::dnn_classifier(
      {.hidden_units = {256, 128}, .classes = 10, .optimizer = tr::adam{.rate = 1e-3f}});
  const tr::estimator estimator{model, {.model_dir = directory, .seed = 1, .save_checkpoints_steps = 390}};
  return tr::print_result(
      tr::train_and_evaluate(estimator, {.input = images->train.shuffle().batch(128).repeat(), .max_steps = steps},
                             {.input = images->test.batch(500), .throttle_secs = 0}));
}
// README ends
