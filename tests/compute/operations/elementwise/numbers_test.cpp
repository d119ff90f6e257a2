#include "tests/compute/operations/values.hpp"
#include "tests/support/has.hpp"

#include <troupe/operations.hpp>

#include <limits>

namespace troupe {

using namespace test;

TEST_CASE("a number beside a symbol is taken in the symbol's dtype, on both sides of every operator") {
  const auto of = [](const tensor& x, auto&& expression) {
    return value([&](graph& g) { return expression(g.constant(x)); });
  };
  const auto floats = f32({2}, {3, -4});
  CHECK(of(floats, [](symbol x) { return x * 2.0; }) == f32({2}, {6, -8}));
  CHECK(of(floats, [](symbol x) { return 2 * x; }) == f32({2}, {6, -8}));
  CHECK(of(floats, [](symbol x) { return x + 1.5; }) == f32({2}, {4.5f, -2.5f}));
  CHECK(of(floats, [](symbol x) { return 1.5f + x; }) == f32({2}, {4.5f, -2.5f}));
  CHECK(of(floats, [](symbol x) { return x - 1; }) == f32({2}, {2, -5}));
  CHECK(of(floats, [](symbol x) { return 1 - x; }) == f32({2}, {-2, 5}));
  CHECK(of(floats, [](symbol x) { return x / 3; }) == f32({2}, {3.0f / 3.0f, -4.0f / 3.0f}));
  CHECK(of(floats, [](symbol x) { return 12 / x; }) == f32({2}, {4, -3}));
  CHECK(of(floats, [](symbol x) { return -x; }) == f32({2}, {-3, 4}));
  CHECK(of(f64({1}, {0.25}), [](symbol x) { return 0.1 * x + 1e300; }) == f64({1}, {0.1 * 0.25 + 1e300}));
  CHECK(of(i32({2}, {7, -7}), [](symbol x) { return -(3 * x - 1) * 2; }) == i32({2}, {-40, 44}));
  const int64_t least = std::numeric_limits<int64_t>::min();
  CHECK(of(i64({1}, {0}), [&](symbol x) { return x + static_cast<double>(least); }) == i64({1}, {least}));
  CHECK(of(f32({1}, {1}), [](symbol x) { return x * -std::numeric_limits<double>::infinity(); })
        == f32({1}, {-std::numeric_limits<float>::infinity()}));
}

TEST_CASE("a number that the dtype does not hold is an error with the number, the dtype and the line") {
  const auto why = [](const tensor& x, auto&& expression) {
    return refusal([&](graph& g) { return expression(g.constant(x)); });
  };
  const auto ints = i32({1}, {1});
  const std::string half = why(ints, [](symbol x) { return x * 0.5; });
  CHECK(half.starts_with("number_like: no int32 holds the number 0.5 beside int32 [1] ("));
  CHECK(has(half, "numbers_test.cpp:" + std::to_string(__LINE__ - 2)));
  const std::string left = why(ints, [](symbol x) { return 0.5 + x; });
  CHECK(has(left, "numbers_test.cpp:" + std::to_string(__LINE__ - 1)));
  CHECK(has(why(ints, [](symbol x) { return x + 2147483648.0; }), "the number 2147483648 "));
  CHECK(has(why(ints, [](symbol x) { return x - std::numeric_limits<double>::quiet_NaN(); }), "the number nan "));
  CHECK(has(why(i64({1}, {1}), [](symbol x) { return x + 0x1p63; }), "no int64 holds"));
  CHECK(has(why(f32({1}, {1}), [](symbol x) { return x * 1e39; }), "no float32 holds the number 1e+39 "));
  CHECK(has(why(bools({1}, {true}), [](symbol x) { return x + 1; }), "no boolean holds the number 1 "));
  CHECK(has(why(ints, [](symbol x) { return x / 2; }), "div"));
}

TEST_CASE("parts and operands may be listed in braces") {
  CHECK(value([](graph& g) {
          return concat({g.constant(f32({1}, {1})), g.constant(f32({2}, {2, 3}))});
        })
        == f32({3}, {1, 2, 3}));
  CHECK(value([](graph& g) {
          return stack({g.constant(f32({2}, {1, 2})), g.constant(f32({2}, {3, 4}))}, 1);
        })
        == f32({2, 2}, {1, 3, 2, 4}));
  const auto slopes = [](graph& g) {
    const symbol a = g.constant(f32({2}, {3, 4})), b = g.constant(f32({2}, {5, 6}));
    return concat({gradients(reduce_sum(a * b), {a, b})[0], gradients(reduce_sum(a * b), {a, b})[1]});
  };
  CHECK(value(slopes) == f32({4}, {5, 6, 3, 4}));
  const std::string why = refusal([](graph& g) {
    return concat({g.constant(f32({1}, {1})), g.constant(i32({1}, {1}))});
  });
  CHECK(has(why, "numbers_test.cpp:" + std::to_string(__LINE__ - 2)));
}

}  // namespace troupe
