#include "compute/engine/gradient_reduction.hpp"

#include "tests/compute/model_fixture.hpp"

#include <troupe/nn.hpp>

#include <bit>

namespace troupe {

using namespace test;

namespace {

constexpr int64_t words = 300, lookups = 16;

/// A model with a table that is only looked up, followed by a dense layer.
model_spec looked_up(graph& g) {
  const symbol rows = nn::embedding(g.placeholder("ids", dtype::int32, {g.unknown("batch")}),
                                    {.entries = words, .units = 5});
  model_spec spec;
  spec.loss = reduce_mean(square(nn::dense(rows, {.units = 3})));
  spec.optimizer = momentum{};
  return spec;
}

/// The reference: sums copies in the order ((0+1)+(2+3))+….
tensor tree(const parameter_layout& layout, std::span<const tensor> parts) {
  if (parts.size() == 1)
    return parts.front();
  const size_t half = std::bit_ceil(parts.size()) / 2;
  auto sum = allocate_buffer(layout.gradient_bytes());
  std::memcpy(sum.get(), tree(layout, parts.first(half)).data(), static_cast<size_t>(layout.gradient_bytes()));
  add_gradient(layout, sum.get(), tree(layout, parts.subspan(half)).data());
  return {dtype::uint8, {layout.gradient_bytes()}, std::move(sum)};
}

}  // namespace

TEST_CASE(
    "sums of gradients, of looked-up rows too, are those of the tree by copies, bit for bit, whatever was summed "
    "before") {
  trainer t(looked_up, {.batch = lookups});
  REQUIRE(t.layout.sparse().size() == 1);
  const tensor ids = classes(10 * lookups, words);
  for (const size_t replicas : {2, 3, 4, 5, 7, 8}) {
    CAPTURE(replicas);
    auto sums = gradient_reduction::plan(std::make_shared<parameter_layout>(t.layout), static_cast<int32_t>(replicas));
    REQUIRE(sums);
    for (int64_t step = 0; step < 4; ++step) {
      std::vector<tensor> parts;
      for (size_t r = 0; r < replicas; ++r) {
        const std::byte* feeds[] = {ids.data() + 4 * (step * 29 + static_cast<int64_t>(r) * 7)};
        REQUIRE(t.run->gradients(
                    {.step = step, .parameters = t.store->arena(0), .shared = t.store->shared(), .feeds = feeds},
                    t.gradient.get())
                == step_status::ok);
        parts.push_back(tensor::copy_of(dtype::uint8, {t.layout.gradient_bytes()},
                                        {t.gradient.get(), static_cast<size_t>(t.layout.gradient_bytes())}));
      }
      CHECK(sums->sum(parts) == tree(t.layout, parts));
    }
  }
}

TEST_CASE("memory for sums that is not to be had is an error that says how much") {
  graph g;
  g.variable({.name = "v", .dims = {int64_t{1} << 46}});
  const auto layout = std::make_shared<parameter_layout>(*parameter_layout::of(g, gradient_descent{}));
  const auto sums = gradient_reduction::plan(layout, 3);
  REQUIRE_FALSE(sums);
  CHECK(sums.error().category == errc::resource_exhausted);
  CHECK(sums.error().message == "no memory to add up the gradients of 3 replicas, of 281474976710656 bytes each");
}

}  // namespace troupe
