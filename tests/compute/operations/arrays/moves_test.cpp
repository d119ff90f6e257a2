#include "compute/graph/operation.hpp"
#include "tests/compute/operations/values.hpp"
#include "tests/support/has.hpp"

#include <limits>
#include <numeric>

namespace troupe {

using namespace test;

namespace {

/// A tensor of this shape with the elements 0, 1, 2, ...
tensor counted(const shape& dims) {
  std::vector<int32_t> x(static_cast<size_t>(dims.elements()));
  std::iota(x.begin(), x.end(), 0);
  return tensor::of<int32_t>(dims, std::span<const int32_t>{x});
}

std::vector<int64_t> index_of(const shape& dims, int64_t element) {
  std::vector<int64_t> at(static_cast<size_t>(dims.rank()));
  for (int i = dims.rank() - 1; i >= 0; --i) {
    at[static_cast<size_t>(i)] = element % dims[i];
    element /= dims[i];
  }
  return at;
}

int32_t element(const tensor& t, const std::vector<int64_t>& at) {
  int64_t place = 0;
  for (size_t i = 0; i < at.size(); ++i)
    place = place * t.dims()[static_cast<int>(i)] + at[i];
  return t.as<int32_t>()[static_cast<size_t>(place)];
}

/// Checks that each element of `y` is the element of `x` at from(index).
void check_moved(const tensor& y, const tensor& x,
                 const std::function<std::vector<int64_t>(std::vector<int64_t>)>& from) {
  for (int64_t i = 0; i < y.elements(); ++i)
    REQUIRE(y.as<int32_t>()[static_cast<size_t>(i)] == element(x, from(index_of(y.dims(), i))));
}

}  // namespace

TEST_CASE("a transpose of a transpose is one turn of what is below, and none where they undo each other") {
  const tensor x = counted({2, 3, 4});
  graph g;
  const symbol c = g.constant(x), once = transpose(c, {1, 2, 0});
  CHECK(transpose(once, {2, 0, 1}).node() == c.node());
  const symbol twice = transpose(once, {1, 2, 0});
  CHECK(contents_of(g).nodes[static_cast<size_t>(twice.node())].inputs == std::vector{c.node()});
  CHECK(value([&](graph& h) {
          return transpose(transpose(h.constant(x), {1, 2, 0}), {1, 2, 0});
        })
        == value([&](graph& h) {
             return transpose(h.constant(x), {2, 0, 1});
           }));
}

TEST_CASE("a transpose has every element where the order of the axes says, of any dtype") {
  const tensor x = counted({2, 3, 4, 5});
  for (const std::vector<int>& order :
       {std::vector<int>{3, 2, 1, 0}, {0, 2, 1, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {0, 1, 3, 2}}) {
    const tensor y = value([&](graph& g) { return transpose(g.constant(x), order); });
    for (size_t i = 0; i < 4; ++i)
      CHECK(y.dims()[static_cast<int>(i)] == x.dims()[order[i]]);
    check_moved(y, x, [&](std::vector<int64_t> at) {
      std::vector<int64_t> from(4);
      for (size_t i = 0; i < 4; ++i)
        from[static_cast<size_t>(order[i])] = at[i];
      return from;
    });
  }
  for (const shape& dims : {shape{1, 35, 70}, shape{3, 40, 17}, shape{1, 130, 16}}) {  // Several blocks, some partial.
    const tensor many = counted(dims), turned = value([&](graph&g) {
                                         return transpose(g.constant(many), {0, -1, -2});
                                       });
    check_moved(turned, many, [](std::vector<int64_t> at) {
      std::swap(at[at.size() - 2], at.back());
      return at;
    });
  }
  CHECK(value([](graph& g) {
          return transpose(g.constant(bools({2, 2}, {true, false, true, true})));
        })
        == bools({2, 2}, {true, true, false, true}));
  CHECK(value([](graph& g) {
          return transpose(g.constant(f64({2, 2}, {1, 2, 3, 4})), {-1, 0});
        })
        == f64({2, 2}, {1, 3, 2, 4}));
  CHECK(refusal([&](graph& g) {
          return transpose(g.constant(x), {0, 1, 1, 3});
        }).find("transpose: {0, 1, 1, 3} is not an order of the axes of int32 [2, 3, 4, 5]")
        != std::string::npos);
}

TEST_CASE("reverse turns the axes that it is given") {
  const tensor x = counted({2, 3, 4});
  const tensor y = value([&](graph& g) { return reverse(g.constant(x), {0, -1}); });
  check_moved(y, x, [](std::vector<int64_t> at) { return std::vector<int64_t>{1 - at[0], at[1], 3 - at[2]}; });
  CHECK(has(refusal([&](graph& g) {
              return reverse(g.constant(x), {0, 0});
            }),
            "reverse: {0, 0} are not distinct axes"));
}

TEST_CASE("a strided slice takes what is left after the cuts, every so many") {
  const tensor x = counted({5, 7});
  const tensor y = value([&](graph& g) { return strided_slice(g.constant(x), {{1, 0}, {0, 2}, {2, 3}}); });
  CHECK(y == i32({2, 2}, {7, 10, 21, 24}));
  check_moved(y, x, [](std::vector<int64_t> at) { return std::vector<int64_t>{1 + 2 * at[0], 3 * at[1]}; });
  CHECK(value([&](graph& g) { return slice(g.constant(x), -1, 5, 2); }).dims() == shape{5, 2});
  CHECK(value([&](graph& g) { return slice(g.constant(x), 0, 5, 0); }).dims() == shape{0, 7});
  CHECK(refusal([&](graph& g) {
          return strided_slice(g.constant(x), {{6, 0}, {}, {}});
        }).find("low 6 and high 0 are more than there is along axis 0 of int32 [5, 7]")
        != std::string::npos);
  CHECK(has(refusal([&](graph& g) {
              return strided_slice(g.constant(x), {{1}, {}, {}});
            }),
            "low {1} does not fit int32 [5, 7]"));
  CHECK(has(refusal([&](graph& g) {
              return strided_slice(g.constant(x), {{}, {}, {0, 1}});
            }),
            "step {0, 1} does not fit"));
  graph g;
  const symbol rows = g.placeholder("rows", dtype::float32, {g.unknown("batch"), 4});
  CHECK(slice(rows, 1, 1, 2).dims() == symbol_shape{g.unknown("batch"), 2});
  CHECK_FALSE(slice(rows, 0, 0, 1).valid());
}

TEST_CASE("pad puts its value before, after and between") {
  CHECK(value([](graph& g) {
          return pad(g.constant(i32({2}, {1, 2})), {{1}, {2}, {1}, 9});
        })
        == i32({6}, {9, 1, 9, 2, 9, 9}));
  CHECK(value([](graph& g) {
          return pad(g.constant(f32({1, 2}, {1, 2})), {{1, 0}, {0, 1}, {}, -1});
        })
        == f32({2, 3}, {-1, -1, -1, 1, 2, -1}));
  CHECK(value([](graph& g) {
          return pad(g.constant(bools({1}, {false})), {{1}, {1}, {}, 1});
        })
        == bools({3}, {true, false, true}));
  CHECK(value([](graph& g) {
          return pad(g.constant(tensor::zeros(dtype::float64, {0})), {{1}, {1}, {4}, 2});
        })
        == f64({2}, {2, 2}));
  CHECK(refusal([](graph& g) {
          return pad(g.constant(i32({2}, {1, 2})), {{-1}, {0}, {}, 0});
        }).find("pad: low {-1} does not fit int32 [2]")
        != std::string::npos);
}

TEST_CASE("tile repeats along every axis") {
  const tensor x = counted({2, 3});
  const tensor y = value([&](graph& g) { return tile(g.constant(x), {3, 2}); });
  CHECK(y.dims() == shape{6, 6});
  check_moved(y, x, [](std::vector<int64_t> at) { return std::vector<int64_t>{at[0] % 2, at[1] % 3}; });
  CHECK(has(refusal([&](graph& g) { return tile(g.constant(x), {2}); }), "tile: times {2} does not fit int32 [2, 3]"));
}

TEST_CASE("concat and split along any axis, and stack along a new one") {
  const tensor a = counted({2, 2, 2}), b = i32({2, 1, 2}, {10, 11, 12, 13});
  const tensor both = value([&](graph& g) { return concat(std::vector{g.constant(a), g.constant(b)}, 1); });
  CHECK(both == i32({2, 3, 2}, {0, 1, 2, 3, 10, 11, 4, 5, 6, 7, 12, 13}));
  CHECK(value([&](graph& g) { return split(g.constant(both), {2, 1}, 1)[1]; }) == b);
  CHECK(value([&](graph& g) {
          return stack(std::vector{g.constant(i32({2}, {1, 2})), g.constant(i32({2}, {3, 4}))}, -1);
        })
        == i32({2, 2}, {1, 3, 2, 4}));
  CHECK(refusal([&](graph& g) {
          return split(g.constant(a), {1, 2}, 0)[0];
        }).find("split: {1, 2} do not add up to axis 0 of int32 [2, 2, 2]")
        != std::string::npos);
}

TEST_CASE("axes of one come and go") {
  graph g;
  const symbol x = g.constant(counted({2, 3}));
  CHECK(expand_dims(x, 0).dims() == symbol_shape{1, 2, 3});
  CHECK(expand_dims(x, -1).dims() == symbol_shape{2, 3, 1});
  CHECK(squeeze(expand_dims(x, 1), {1}).dims() == x.dims());
  CHECK(g.status());
  CHECK_FALSE(squeeze(x, {0}).valid());
  CHECK(has(g.status().error().message, "squeeze: the axes must be distinct ones of extent 1 of int32 [2, 3]"));
}

TEST_CASE(
    "results that no machine could hold are refused while building and while binding, before anything is allocated") {
  graph g;
  const symbol x = g.placeholder("x", dtype::uint8, {g.unknown("batch"), 1 << 20});
  CHECK(has(refusal([](graph& other) {
              return tile(other.constant(counted({2, 3})), {int64_t{1} << 40, int64_t{1} << 40});
            }),
            "tile: its result [2199023255552, 3298534883328] would have more than 2^48 elements"));
  CHECK(refusal([](graph& other) {
          return broadcast_to(other.constant(i32({}, {1})), {int64_t{1} << 31, int64_t{1} << 31}, {});
        }).find("2^48")
        != std::string::npos);
  model_spec spec;
  spec.mode = mode::predict;
  spec.predictions["y"] = cast(x, dtype::float32);
  const auto p = program::make(g, spec, *parameter_layout::of(g, std::nullopt), {.batch = int64_t{1} << 40});
  REQUIRE_FALSE(p);
  CHECK(has(p.error().message, "x: [batch, 1048576] would have more than 2^48 elements"));
}

TEST_CASE("numbers that would overflow an extent, extents below 0 and a ninth axis are refused") {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  const auto x = [](graph& g) { return g.constant(counted({2, 3})); };
  const auto refuses = [](const std::function<symbol(graph&)>& f, const std::string& part) {
    CHECK(has(refusal(f), part));
  };
  refuses([&](graph& g) { return strided_slice(x(g), {{most, 0}, {most, 0}, {}}); }, "strided_slice: low");
  refuses([&](graph& g) { return pad(x(g), {{most, 0}, {most, 0}, {}, 0}); }, "pad: low");
  refuses([&](graph& g) { return pad(x(g), {{}, {}, {0, int64_t{1} << 48}, 0}); }, "pad: between");
  refuses([&](graph& g) { return tile(x(g), {1, most}); }, "tile: its result");
  refuses([&](graph& g) { return split(x(g), {most, most, 5}, 0)[0]; }, "split: ");
  refuses([&](graph& g) { return reshape(x(g), {-2, -3}); }, "reshape: ");
  refuses([&](graph& g) { return reshape(x(g), {int64_t{1} << 62, 4, 6}); }, "reshape: ");
  refuses([&](graph& g) { return broadcast_to(slice(x(g), 0, 0, 1), {-1, 3}, {}); }, "an extent below 0");
  refuses([&](graph& g) { return one_hot(reshape(x(g), {1, 1, 1, 1, 1, 1, 2, 3}), 4); }, "more than 8 axes");
  refuses(
      [&](graph& g) {
        return conv2d_transpose(cast(reshape(x(g), {1, 2, 3, 1}), dtype::float32),
                                g.constant(tensor::zeros(dtype::float32, {1, 1, 1, 1})), {.strides = {most, 1}});
      },
      "must be from 1 to 2^20");
}

}  // namespace troupe
