// Common subexpression elimination: calls with the same result are made once.
#include "tests/compute/planned.hpp"

#include <troupe/nn.hpp>

namespace troupe {

using namespace test;

namespace {

std::pair<int, int> compare(const shape& dims, const std::string& title, const build& f) {
  return kernels_of(dims, title, f, {.eliminate_common_calls = false});
}

}  // namespace

TEST_CASE("an expression that is written twice is computed once, and found under both names") {
  CHECK(compare({30}, "exp\n",
                [](graph&, symbol x) {
                  return std::map<std::string, symbol>{
                      {"a", square(exp(x))}, {"b", neg(exp(x))}, {"c", exp(x)}, {"d", exp(x)}};
                })
        == std::pair{1, 4});
}

TEST_CASE("what equal values are made into is shared as well, through views and constants") {
  CHECK(compare({4, 6}, "matmul", only([](graph& g, symbol x) {
                  const auto product = [&] {
                    return matmul(reshape(exp(x), {8, 3}), g.constant(noise<float>({3, 5}, 1)));
                  };
                  return reduce_sum(product()) + reduce_sum(square(product()));
                }))
        == std::pair{1, 2});
}

TEST_CASE("calls that differ in an attribute, in the sign of a zero or in their shape stay apart") {
  CHECK(compare({4, 6}, "scale",
                [](graph&, symbol x) {
                  return std::map<std::string, symbol>{{"a", scale(x, 0.0)}, {"b", scale(x, -0.0)}, {"c", scale(x, 2)}};
                })
        == std::pair{3, 3});
  CHECK(compare({4, 4}, "reduce_sum",
                [](graph&, symbol x) {
                  return std::map<std::string, symbol>{{"a", reduce_sum(x, {.axes = {0}})},
                                                       {"b", reduce_sum(x, {.axes = {1}})}};
                })
        == std::pair{2, 2});
  CHECK(compare({4, 4}, "matmul",
                [](graph&, symbol x) {
                  return std::map<std::string, symbol>{{"a", matmul(x, x)},
                                                       {"b", matmul(x, x, {.transpose_b = true})},
                                                       {"c", matmul(x, x, {.transpose_a = true})}};
                })
        == std::pair{3, 3});
  CHECK(compare({1}, "broadcast_to",
                [](graph&, symbol x) {
                  return std::map<std::string, symbol>{
                      {"a", broadcast_to(x, {3})}, {"b", broadcast_to(x, {4})}, {"c", broadcast_to(x, {3})}};
                })
        == std::pair{2, 3});
}

TEST_CASE("two dropouts of one input stay two, and its gradient keeps the elements of its own") {
  planned p{{64}, [](graph&, symbol x) {
              const symbol a = dropout(x, 0.5, true), b = dropout(x, 0.5, true);
              return std::map<std::string, symbol>{{"a", a},
                                                   {"b", b},
                                                   {"da", gradients(reduce_sum(a), std::vector{x})[0]},
                                                   {"db", gradients(reduce_sum(b), std::vector{x})[0]}};
            }};
  CHECK(p.kernels("dropout") == 4);
  const auto all = p.run();
  CHECK_FALSE(all[0] == all[1]);
  for (int64_t i = 0; i < 64; ++i) {
    CHECK((numbers(all[0])[static_cast<size_t>(i)] != 0) == (numbers(all[2])[static_cast<size_t>(i)] != 0));
    CHECK((numbers(all[1])[static_cast<size_t>(i)] != 0) == (numbers(all[3])[static_cast<size_t>(i)] != 0));
  }
}

TEST_CASE("a gradient that two branches ask for is computed once") {
  const build penalty = [](graph& g, symbol x) {
    const symbol w = g.constant(noise<float>({6, 5}, 1)), y = reduce_sum(tanh(matmul(x, w)));
    const symbol one = gradients(y, std::vector{x})[0], again = gradients(y, std::vector{x})[0];
    return std::map<std::string, symbol>{{"norm", reduce_sum(square(one))}, {"greatest", reduce_max(again)}};
  };
  CHECK(compare({4, 6}, "matmul", penalty) == std::pair{2, 3});  // The product, and the gradient of its left operand.
}

TEST_CASE(
    "a training step that differentiates what the model has differentiated has the same gradients in fewer kernels") {
  const auto model = [](graph& g) {
    const symbol x = g.placeholder("x", dtype::float32, {g.unknown("batch"), 6});
    const symbol h = nn::dense(x, {.units = 8, .activation = gelu}),
                 y = reduce_mean(square(nn::dense(h, {.units = 1})));
    const symbol slope = gradients(y, std::vector{h})[0];
    g.histogram("slope", gradients(y, std::vector{h})[0]);
    return model_spec{.mode = mode::train, .loss = y + reduce_sum(square(slope)), .optimizer = adam{}};
  };
  trainer once{model, {.batch = 12}}, twice{model, {.batch = 12, .eliminate_common_calls = false}};
  const tensor x = noise<float>({12, 6}, 5);
  for (int64_t step = 0; step < 3; ++step) {
    CHECK(once.step({x.data()}, step) == step_status::ok);
    CHECK(twice.step({x.data()}, step) == step_status::ok);
    CHECK(std::memcmp(once.gradient.get(), twice.gradient.get(), static_cast<size_t>(once.layout.gradient_bytes()))
          == 0);
    CHECK(once.run->loss() == twice.run->loss());
  }
  CHECK(once.run->kernels() < twice.run->kernels());
  auto recording = once.input({}, 3), also = twice.input({}, 3);
  const std::byte* feeds[] = {x.data()};
  recording.feeds = also.feeds = feeds;
  recording.record = also.record = true;
  once.run->gradients(recording, once.gradient.get());
  twice.run->gradients(also, twice.gradient.get());
  CHECK(once.run->recorded() == twice.run->recorded());
}

}  // namespace troupe
