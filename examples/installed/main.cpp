// Which of two numbers is larger: learned, and then asked.
#include <troupe/troupe.hpp>

namespace tr = troupe;

tr::model_spec larger_of_two(tr::graph&, const tr::features& x, const tr::labels& y, tr::mode) {
  const auto logits = tr::nn::dense(x["numbers"], {.units = 2});
  return {.loss = tr::reduce_mean(tr::sparse_softmax_cross_entropy(y["larger"], logits)),
          .optimizer = tr::adam{.rate = 0.1f}};
}

int main() {
  const auto numbers = tr::tensor::of<float>({4, 2}, {0.1f, 0.9f, 0.8f, 0.2f, 0.3f, 0.6f, 0.7f, 0.4f});
  const auto larger = tr::tensor::of<int32_t>({4}, {1, 0, 1, 0});
  auto pairs = tr::dataset::from_tensors({{"numbers", numbers}}, {{"larger", larger}});
  if (!pairs)
    return tr::print_error(pairs.error());
  return tr::print_result(
      tr::train({{"larger_of_two", larger_of_two}, {.seed = 1}}, {.input = pairs->batch(4).repeat(), .max_steps = 50}));
}
