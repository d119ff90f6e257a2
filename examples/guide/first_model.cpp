// The guide's first model, from data to an exported model: `first_model [STEPS]`. Its page quotes it in pieces.
// model begins
#include <troupe/exported_model.hpp>
#include <troupe/troupe.hpp>

#include <cstdlib>
#include <iostream>

namespace tr = troupe;

/// 60,000 pictures of clothes to train with, 10,000 to test with.
tr::expected<tr::train_and_test> pictures() { return tr::fashion_mnist("/usr/share/datasets/fashion-mnist"); }

/// Two dense layers and a head.
tr::model clothes() {
  const tr::head head = tr::multi_class_head{.vocabulary = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                                            "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"}};
  const auto build = [head](tr::graph& g, const tr::features& x, const tr::labels& y, tr::mode mode) {
    const auto hidden = tr::nn::dense(x["pixels"], {.units = 128, .activation = tr::relu});
    const auto kept = tr::dropout(hidden, 0.2, mode == tr::mode::train);
    const auto logits = tr::nn::dense(kept, {.units = head.logits, .name = "logits"});
    return head.spec(g, {.mode = mode, .logits = logits, .labels = y, .optimizer = tr::adam{.rate = 1e-3f}});
  };
  return {"clothes", build, head.texts};
}
// model ends

// train begins
int main(int argc, char** argv) {
  const auto data = pictures();
  if (!data)
    return tr::print_error(data.error());

  const tr::estimator estimator{clothes(), {.model_dir = "runs/first", .seed = 1, .save_checkpoints_steps = 234}};
  const auto trained = tr::train_and_evaluate(
      estimator, {.input = data->train.shuffle().batch(128).repeat(), .max_steps = argc > 1 ? std::atoi(argv[1]) : 468},
      {.input = data->test.batch(500), .throttle_secs = 0});
  if (const int status = tr::print_result(trained); status != 0)
    return status;
  // train ends

  // use begins
  const auto judged = tr::evaluate(estimator, {.input = data->test.take(5000).batch(500), .name = "half"});
  if (!judged)
    return tr::print_error(judged.error());
  std::cout << "on half of the pictures: accuracy " << judged->metrics.at("accuracy") << "\n";

  auto answers = tr::predict(estimator, {.input = data->test.take(3).batch(3), .keys = {"class_ids", "classes"}});
  if (!answers)
    return tr::print_error(answers.error());
  for (const auto& one : *answers)
    std::cout << one.values.at("class_ids").as<int64_t>()[0] << " " << one.texts.at("classes")[0] << "\n";
  if (const auto status = answers->status(); !status)  // The loop also ends at an error.
    return tr::print_error(status.error());

  const auto path = tr::export_model(estimator, {.input = data->test.batch(1)});
  if (!path)
    return tr::print_error(path.error());
  std::cout << "exported to " << *path << "\n";

  const auto exported = tr::exported_model::open(*path);
  if (!exported)
    return tr::print_error(exported.error());
  auto caller = exported->caller();
  if (!caller)
    return tr::print_error(caller.error());
  const auto black = tr::tensor::zeros(tr::dtype::float32, {1, 784});
  const auto answer = caller->call({{"pixels", black}});
  if (!answer)
    return tr::print_error(answer.error());
  std::cout << "a black picture is class " << answer->at("class_ids").as<int64_t>()[0] << "\n";
}
// use ends
