// Labels of which some are wrong, and the rows that a model finds hardest to learn: a host call keeps the loss of every
// row while the model trains.
#include <troupe/host_call.hpp>
#include <troupe/troupe.hpp>

#include <algorithm>
#include <iostream>
#include <numeric>

namespace tr = troupe;

namespace {

constexpr int64_t rows = 512, batch = 32, epochs = 20;

/// Points on both sides of a line; the label says on which. That of every hundredth row is wrong.
tr::expected<tr::dataset> points() {
  std::vector<float> x(rows * 2);
  std::vector<int32_t> side(rows), row(rows);
  uint32_t state = 12345;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t c = 0; c < 2; ++c) {
      state = state * 1664525u + 1013904223u;
      x[static_cast<size_t>(2 * i + c)] = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
    }
    const auto at = static_cast<size_t>(i);
    row[at] = static_cast<int32_t>(i);
    side[at] = (x[2 * at] + x[2 * at + 1] > 0) != (i % 100 == 99) ? 1 : 0;
  }
  return tr::dataset::from_tensors(
      {{"x", tr::tensor::of<float>({rows, 2}, x)}, {"row", tr::tensor::of<int32_t>({rows}, row)}},
      {{"side", tr::tensor::of<int32_t>({rows}, side)}});
}

// model begins
tr::model divided(std::vector<double>& total) {
  return {.name = "divided",
          .build =
              [](tr::graph& g, const tr::features& in, const tr::labels& y, tr::mode mode) {
                const auto logits = tr::nn::dense(in["x"], {.units = 2});
                if (mode == tr::mode::train)
                  g.host_call(
                      {.name = "losses",
                       .tensors = {{"row", in["row"]}, {"loss", tr::sparse_softmax_cross_entropy(y.only(), logits)}}});
                return tr::multi_class_head{.classes = 2}.spec(
                    g, {.mode = mode, .logits = logits, .labels = y.only(), .optimizer = tr::adam{.rate = 0.1f}});
              },
          .host_calls = {{"losses", [&total](tr::host_call_step& step) {
                            const auto row = step["row"].as<int32_t>();
                            const auto loss = step["loss"].as<float>();
                            for (size_t i = 0; i < row.size(); ++i)
                              total[static_cast<size_t>(row[i])] += static_cast<double>(loss[i]);
                            step.scalar("hardest", static_cast<double>(*std::max_element(loss.begin(), loss.end())));
                          }}}};
}
// model ends

}  // namespace

int main(int argc, char** argv) {
  const auto data = points();
  if (!data)
    return tr::print_error(data.error());
  // train begins
  std::vector<double> total(rows);
  const tr::estimator estimator{divided(total), {.model_dir = argc > 1 ? argv[1] : "runs/divided", .replicas = 2}};
  const auto result = tr::train(estimator, {.input = data->shuffle().batch(batch).repeat(epochs)});
  // train ends
  if (!result)
    return tr::print_error(result.error());
  std::vector<int64_t> hardest(rows);
  std::iota(hardest.begin(), hardest.end(), 0);
  std::stable_sort(hardest.begin(), hardest.end(),
                   [&](int64_t a, int64_t b) { return total[static_cast<size_t>(a)] > total[static_cast<size_t>(b)]; });
  std::cout << "the five hardest rows:";
  for (size_t i = 0; i < 5; ++i)
    std::cout << " " << hardest[i];
  std::cout << "\n";
  return 0;
}
