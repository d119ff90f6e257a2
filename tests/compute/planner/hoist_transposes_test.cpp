// Transpose hoisting: a matrix that many small products read transposed is transposed once.
#include "tests/compute/planned.hpp"
#include "tests/support/has.hpp"

#include <troupe/nn.hpp>

namespace troupe {

using namespace test;

namespace {

/// A chain of products with one matrix, whose left operands have `rows` rows.
build chain(int products, int64_t rows) {
  return only([=](graph& g, symbol x) {
    const symbol w = g.constant(noise<float>({24, 24}, 1));
    symbol y = slice(x, 0, 0, rows);
    for (int i = 0; i < products; ++i)
      y = tanh(matmul(y, w, {.transpose_b = true}));
    return y;
  });
}

/// The numbers of products that read the matrix transposed and of transposes, first with the pass, then without it.
std::array<int, 4> compare(const build& f) {
  planned once{{200, 24}, f}, each{{200, 24}, f, {.eliminate_common_calls = false}};
  CHECK(once.run() == each.run());
  return {once.kernels("matmul NT"), once.kernels("transpose"), each.kernels("matmul NT"), each.kernels("transpose")};
}

}  // namespace

TEST_CASE("many small products with a transposed matrix turn it once, to the same bits") {
  CHECK(compare(chain(6, 20)) == std::array{0, 1, 6, 0});
}

TEST_CASE("few products, and such of many rows, turn the matrix as they go") {
  CHECK(compare(chain(3, 20)) == std::array{3, 0, 3, 0});
  CHECK(compare(chain(6, 200)) == std::array{6, 0, 6, 0});
}

TEST_CASE("a recurrent layer's gradients are the same bits with and without what is turned once") {
  const auto model = [](graph& g) {
    const symbol x = g.placeholder("x", dtype::float32, {g.unknown("batch"), 9, 5});
    const auto y = nn::lstm(x, {.units = 16});
    return model_spec{.mode = mode::train, .loss = reduce_mean(square(y.outputs)), .optimizer = adam{}};
  };
  trainer once{model, {.batch = 12}}, each{model, {.batch = 12, .eliminate_common_calls = false}};
  const tensor x = noise<float>({12, 9, 5}, 5);
  for (int64_t step = 0; step < 3; ++step) {
    CHECK(once.step({x.data()}, step) == step_status::ok);
    CHECK(each.step({x.data()}, step) == step_status::ok);
    CHECK(std::memcmp(once.gradient.get(), each.gradient.get(), static_cast<size_t>(once.layout.gradient_bytes()))
          == 0);
  }
  CHECK(has(once.run->to_text(), "/transposed: float32 [64, 16]"));
}

}  // namespace troupe
