// Copy elision: contiguous memory is not copied.
#include "tests/compute/planned.hpp"
#include "tests/support/has.hpp"

namespace troupe {

using namespace test;

namespace {

std::pair<int, int> compare(const shape& dims, const std::string& title, const build& f) {
  return kernels_of(dims, title, f, {.elide = false});
}

using symbols = std::map<std::string, symbol>;

}  // namespace

TEST_CASE("slices that are one piece of memory are views of it, also of slices, and of what is fed") {
  CHECK(compare({4, 32}, "strided_slice",
                [](graph&, symbol x) {
                  const symbol y = exp(x), two = slice(y, 0, 1, 2);
                  return symbols{{"a", square(slice(y, 0, 3, 1))},
                                 {"b", neg(slice(two, 0, 1, 1))},
                                 {"c", neg(two)},
                                 {"d", square(slice(x, 0, 1, 3))}};
                })
        == std::pair{0, 4});
  CHECK(compare({3, 4, 16}, "strided_slice",
                [](graph&, symbol x) {
                  const symbol y = exp(x), one = slice(y, 0, 2, 1);  // The axis before the cut one has the extent 1.
                  return symbols{{"a", neg(slice(one, 1, 1, 2))}, {"b", neg(slice(one, 1, 0, 1))}, {"all", square(y)}};
                })
        == std::pair{0, 3});
}

TEST_CASE("an operation does not write over memory of which it reads a view as well, stretched over its output") {
  const auto kernels = [](const shape& dims, const std::string& title, const std::function<symbol(symbol)>& f) {
    return compare(dims, title, only([&](graph&, symbol x) { return f(exp(x)); }));
  };
  CHECK(kernels({4, 32}, "strided_slice", [](symbol y) { return y - slice(y, 0, 0, 1); }) == std::pair{0, 1});
  CHECK(kernels({4, 32}, "strided_slice", [](symbol y) { return y - slice(y, 0, 1, 1); }) == std::pair{0, 1});
  CHECK(kernels({1, 4, 32}, "strided_slice", [](symbol y) { return div(y, slice(y, 1, 0, 1)); }) == std::pair{0, 1});
  CHECK(kernels({4, 128}, "strided_slice", [](symbol y) { return exp(y - slice(y, 0, 0, 1)); }) == std::pair{0, 1});
  CHECK(compare({1, 32}, "concat", only([](graph&, symbol x) {
                  const symbol a = exp(x);
                  return concat(std::vector{a, square(x), tanh(x)}, 0) - a;
                }))
        == std::pair{0, 1});
}

TEST_CASE("slices whose elements lie apart, or that begin within a line of the cache, are gathered") {
  CHECK(compare({4, 32}, "strided_slice",
                [](graph&, symbol x) {
                  const symbol y = exp(x);
                  return symbols{{"columns", neg(slice(y, 1, 0, 16))},
                                 {"every other", neg(strided_slice(y, {.low = {}, .high = {}, .step = {2, 1}}))}};
                })
        == std::pair{2, 2});
  CHECK(compare({4, 6}, "strided_slice",
                [](graph&, symbol x) {
                  const symbol y = exp(x);
                  return symbols{{"a", neg(slice(y, 0, 1, 3))}, {"all", square(y)}};
                })
        == std::pair{1, 1});
}

TEST_CASE("a slice that is less than half of what only it would keep in memory is moved, two halves are not") {
  // Reads `parts` only when the memory of exp(x) could be in use again.
  const auto late = [](symbol x, std::vector<symbol> parts) {
    symbol sum = reduce_sum(log(square(x)));
    for (int i = 0; i < 4; ++i)
      sum = exp(scale(sum, 1e-3));
    for (symbol part : parts)
      sum = sum + reduce_sum(neg(part));
    return sum;
  };
  CHECK(compare({64, 64}, "strided_slice", only([&](graph&, symbol x) {
                  const symbol y = exp(x);
                  return late(y, {slice(y, 0, 8, 8)});
                }))
        == std::pair{1, 1});
  CHECK(compare({64, 64}, "strided_slice", only([&](graph&, symbol x) {
                  const symbol y = exp(x);
                  return late(y, {slice(y, 0, 0, 32), slice(y, 0, 32, 32)});
                }))
        == std::pair{0, 2});
}

TEST_CASE("a slice is moved where it is an output of the program") {
  CHECK(compare({4, 32}, "strided_slice", only([](graph&, symbol x) { return slice(exp(x), 0, 2, 2); }))
        == std::pair{1, 1});
}

TEST_CASE("parts are made where their concatenation has them, and those of its parts where these have them") {
  CHECK(compare({4, 32}, "concat", only([](graph&, symbol x) {
                  return neg(concat(std::vector{exp(x), square(x), tanh(x)}, 0));
                }))
        == std::pair{0, 1});
  CHECK(compare({4, 32}, "concat", only([](graph&, symbol x) {
                  std::vector<symbol> steps;
                  symbol y = x;
                  for (int i = 0; i < 32; ++i)
                    steps.push_back(y = tanh(scale(y, 1 + i)));
                  return exp(stack(steps, 0));
                }))
        == std::pair{0, 13});
}

TEST_CASE("what has a place of its own is copied to where the concatenation has it") {
  const auto dims = shape{4, 32};
  const build fed = only([](graph&, symbol x) { return neg(concat(std::vector{x, exp(x)}, 0)); });
  CHECK(compare(dims, "concat", fed) == std::pair{0, 1});
  CHECK(compare(dims, "copy", fed) == std::pair{1, 0});
  const build twice = [](graph&, symbol x) {
    const symbol y = exp(x), z = square(x);
    return symbols{{"a", neg(concat(std::vector{y, z, y}, 0))}, {"b", neg(concat(std::vector{z, y}, 0))}};
  };
  CHECK(compare(dims, "concat", twice) == std::pair{1, 2});  // One needs no copies, the other needs two.
  const build doubled = only([](graph&, symbol x) {
    const symbol y = exp(x);
    return neg(concat(std::vector{y, y}, 0));
  });
  CHECK(compare(dims, "copy", doubled) == std::pair{1, 0});
  const build sliced = only([](graph&, symbol x) {
    const symbol y = exp(x);
    return neg(concat(std::vector{slice(y, 0, 2, 2), square(slice(y, 0, 0, 2))}, 0));
  });
  CHECK(compare(dims, "copy", sliced) == std::pair{1, 0});
}

TEST_CASE("parts along another axis, and parts of broken lines, are moved") {
  const build columns = only([](graph&, symbol x) { return neg(concat(std::vector{exp(x), square(x)}, 1)); });
  CHECK(compare({4, 32}, "concat", columns) == std::pair{1, 1});
  CHECK(compare({4, 6}, "concat", only([](graph&, symbol x) {
                  return neg(concat(std::vector{exp(x), square(x)}, 0));
                }))
        == std::pair{1, 1});
  CHECK(compare({1, 32}, "concat", columns) == std::pair{0, 1});
}

TEST_CASE("a part that nobody but its concatenation would keep in memory is moved when it is less than half") {
  const build small = [](graph&, symbol x) {
    const symbol y = exp(slice(x, 0, 0, 4)), all = concat(std::vector{y, square(slice(x, 0, 4, 60))}, 0);
    symbol sum = reduce_sum(all);
    for (int i = 0; i < 4; ++i)
      sum = exp(scale(sum, 1e-6));
    return symbols{{"y", sum + reduce_sum(neg(y))}};
  };
  CHECK(compare({64, 64}, "copy", small) == std::pair{1, 0});
}

TEST_CASE("without moves an arena is no larger, and its parts overlap nothing that lives") {
  const build recurrent = only([](graph& g, symbol x) {
    std::vector<symbol> steps;
    symbol state = g.constant(noise<float>({16, 32}, 2));
    for (int64_t t = 0; t < 12; ++t)
      steps.push_back(state = tanh(state + squeeze(slice(exp(x), 0, t, 1), {0})));
    const symbol y = reduce_sum(square(stack(steps, 0)));
    return gradients(y, std::vector{x})[0];
  });
  planned fewer{{12, 16, 32}, recurrent}, all{{12, 16, 32}, recurrent, {.elide = false}};
  CHECK(fewer.run() == all.run());
  CHECK(fewer.run() == all.run());
  CHECK(fewer.kernels() < all.kernels());
  CHECK(fewer.p->arena_bytes() <= all.p->arena_bytes());
}

TEST_CASE("a gradient that is a concatenation is made in the vector of gradients, part by part") {
  const auto model = [](graph& g) {
    const symbol x = g.placeholder("x", dtype::float32, {g.unknown("batch"), 32});
    const symbol w = g.variable({.name = "w", .dims = {64, 16}, .initial = init::normal(0, 1)});
    const symbol y = matmul(tanh(matmul(x, slice(w, 0, 0, 32))), slice(w, 0, 32, 16));
    return model_spec{
        .mode = mode::train, .loss = reduce_mean(square(matmul(y, slice(w, 0, 48, 16)))), .optimizer = adam{}};
  };
  trainer fewer{model, {.batch = 12}}, all{model, {.batch = 12, .elide = false}};
  const tensor x = noise<float>({12, 32}, 5);
  for (int64_t step = 0; step < 3; ++step) {
    CHECK(fewer.step({x.data()}, step) == step_status::ok);
    CHECK(all.step({x.data()}, step) == step_status::ok);
    CHECK(std::memcmp(fewer.gradient.get(), all.gradient.get(), static_cast<size_t>(fewer.layout.gradient_bytes()))
          == 0);
  }
  const std::string plan = fewer.run->to_text();
  INFO(plan);
  CHECK_FALSE(has(plan, "\nconcat\n"));
  CHECK_FALSE(has(plan, "\nstrided_slice\n"));
  CHECK(has(plan, "@gradient+2048"));
}

TEST_CASE("feeds at addresses that are no multiple of 64 are sliced to the same bits") {
  const build f = only([](graph&, symbol x) { return exp(slice(x, 0, 1, 2)); });
  planned p{{4, 32}, f};
  const auto expected_values = p.run();
  std::vector<std::byte> shifted(static_cast<size_t>(p.x.byte_size()) + 68);
  std::byte* odd = shifted.data() + 4 + (64 - reinterpret_cast<uintptr_t>(shifted.data()) % 64) % 64;
  std::memcpy(odd, p.x.data(), static_cast<size_t>(p.x.byte_size()));
  const std::byte* feed[] = {odd};
  REQUIRE(p.p->run({.feeds = feed}) == step_status::ok);
  CHECK(p.p->output(0) == expected_values[0]);
}

}  // namespace troupe
