#include "input/sources/memory_source.hpp"

#include "reading.hpp"

namespace troupe {

namespace {

template <class T>
std::vector<T> filled(size_t n, std::vector<std::byte>& bytes) {
  std::vector<T> values(n);
  std::memcpy(values.data(), bytes.data(), n * sizeof(T));
  return values;
}

}  // namespace

TEST_CASE("[DF-14, DF-15] components are delivered features first, each side sorted by name, in one buffer each") {
  const auto made = dataset::from_tensors(
      {{"b", tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6})}, {"a", tensor::of<int32_t>({3}, {7, 8, 9})}},
      {{"y", tensor::of<uint8_t>({3, 1, 1}, {10, 11, 12})}});
  REQUIRE(made);
  const element_spec wanted{{{"a", dtype::int32, {}}, {"b", dtype::float32, {2}}}, {{"y", dtype::uint8, {1, 1}}}};
  CHECK(made->spec() == wanted);
  auto it = iterate(made->skip(1).batch(2));
  CHECK(it->spec() == wanted);
  std::vector<std::byte> a(8), b(16), y(2);
  std::byte* into[] = {a.data(), b.data(), y.data()};
  CHECK(it->read(into, {}) == 2);
  CHECK(filled<int32_t>(2, a) == std::vector<int32_t>{8, 9});
  CHECK(filled<float>(4, b) == std::vector<float>{3, 4, 5, 6});
  CHECK(filled<uint8_t>(2, y) == std::vector<uint8_t>{11, 12});
}

TEST_CASE("nothing is written beyond the rows that are reported") {
  auto it = iterate(numbered(5).shuffle(1).batch(4));
  CHECK(next(*it).size() == 4);
  int64_t ids[] = {-1, -1, -1, -1};
  std::byte* into[] = {reinterpret_cast<std::byte*>(ids)};
  CHECK(it->read(into, {}) == 1);
  CHECK(ids[0] >= 0);
  CHECK(ids[1] == -1);
}

TEST_CASE("counts that differ are refused with both components and both counts") {
  const auto made = dataset::from_tensors({{"pixels", tensor::zeros(dtype::float32, {4, 2})}},
                                          {{"label", tensor::zeros(dtype::int32, {3})}});
  REQUIRE_FALSE(made);
  CHECK(made.error() == error{errc::invalid_argument, "'pixels' has 4 examples, 'label' has 3"});
}

TEST_CASE("a scalar, a name given twice and a source without features are refused by name") {
  const auto one = tensor::zeros(dtype::float32, {4});
  CHECK(names(dataset::from_tensors({{"x", one}, {"rate", tensor::scalar(1.0f)}}).error(), "'rate' is a scalar"));
  CHECK(names(dataset::from_tensors({{"x", one}, {"x", one}}).error(), "'x' is given twice"));
  CHECK(names(dataset::from_tensors({{"a\nb", one}}).error(), "a component has a line break in its name"));
  CHECK(names(dataset::from_tensors({{"", one}}).error(), "a component has no name"));
  CHECK(names(dataset::from_tensors({}, {{"label", one}}).error(), "no features"));
  CHECK(dataset::from_tensors({{"x", one}}, {{"x", one}}));
}

TEST_CASE("a source without examples is refused when it is read") {
  const auto made = dataset::from_tensors({{"x", tensor::zeros(dtype::float32, {0, 3})}});
  REQUIRE(made);
  const auto e = refusal(made->shuffle().batch(4).repeat());
  CHECK(e.category == errc::invalid_argument);
  CHECK(names(e, "tensors of 0 examples: x float32[3] has no examples"));
}

TEST_CASE("a pipeline's text names its stages from the source on") {
  CHECK(numbered(9).shuffle().batch(4).repeat().to_text() == "tensors -> shuffle -> batch(4) -> repeat");
  CHECK(numbered(9).shuffle(3).batch(4, true).repeat(2).take(5).skip(1).to_text()
        == "tensors -> shuffle(seed = 3) -> batch(4, drop_remainder = true) -> repeat(2) -> take(5) -> skip(1)");
}

}  // namespace troupe
