// What Cast and the comparisons of an ONNX model are given: ONNX says nothing of numbers out of range, nor of the order
// of booleans.
#include "tests/exports/onnx_case.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace troupe {

using namespace test;

namespace {

/// A number of any dtype: a long double has all digits of an int64 and of a double.
struct typed {
  int32_t type = 0;  ///< ONNX's number of the dtype.
  long double x = 0;
};

constexpr int32_t as_float = 1, as_uint8 = 2, as_int32 = 6, as_int64 = 7, as_bool = 9, as_double = 11;

template <class T>
typed read(const proto::OnnxTensor& t) {
  T value{};
  REQUIRE(t.raw_data().size() == sizeof value);
  std::memcpy(&value, t.raw_data().data(), sizeof value);
  return {t.data_type(), static_cast<long double>(value)};
}

typed value_of(const proto::OnnxTensor& t) {
  switch (t.data_type()) {
    case as_float: return read<float>(t);
    case as_double: return read<double>(t);
    case as_int32: return read<int32_t>(t);
    case as_int64: return read<int64_t>(t);
    case as_uint8: return read<uint8_t>(t);
    default: FAIL("a constant of dtype ", t.data_type()); return {};
  }
}

/// What ONNX defines a cast to be. A number out of range fails the test.
typed cast_in_onnx(const typed& from, int32_t to) {
  long double least = 0, most = 0;
  switch (to) {
    case as_float: return {to, static_cast<long double>(static_cast<float>(from.x))};
    case as_double: return {to, static_cast<long double>(static_cast<double>(from.x))};
    case as_bool: return {to, from.x != 0 ? 1.0L : 0.0L};
    case as_int32: least = INT32_MIN, most = INT32_MAX; break;
    case as_int64: least = INT64_MIN, most = INT64_MAX; break;
    case as_uint8: most = UINT8_MAX; break;
    default: FAIL("a cast to dtype ", to);
  }
  const long double whole = std::trunc(from.x);
  CHECK_MESSAGE((whole >= least && whole <= most), "Cast gets ", static_cast<double>(from.x));
  return {to, whole};
}

/// The output "y" of an element-wise ONNX model for one number "x". Checks dtypes as ONNX does.
typed value_in_onnx(const proto::OnnxModel& model, const typed& x) {
  std::map<std::string, typed> values{{"x", x}};
  for (const auto& t : model.graph().initializer())
    values[t.name()] = value_of(t);
  for (const auto& n : model.graph().node()) {
    const auto in = [&](int i) { return values.at(n.input(i)); };
    const std::string& op = n.op_type();
    const auto is = [&](bool holds) { return typed{as_bool, holds ? 1.0L : 0.0L}; };
    CAPTURE(op);
    auto& y = values[n.output(0)];
    if (op == "Identity") {
      y = in(0);
    } else if (op == "IsNaN") {
      y = is(std::isnan(in(0).x));
    } else if (op == "Cast") {
      y = cast_in_onnx(in(0), static_cast<int32_t>(n.attribute(0).i()));
    } else if (op == "Clip") {
      CHECK((in(1).type == in(0).type && in(2).type == in(0).type));
      y = {in(0).type, std::min(std::max(in(0).x, in(1).x), in(2).x)};
    } else if (op == "Where") {
      CHECK((in(0).type == as_bool && in(1).type == in(2).type));
      y = in(0).x != 0 ? in(1) : in(2);
    } else {
      CHECK((in(0).type == in(1).type && in(0).type != as_bool));
      y = is(op == "Greater"          ? in(0).x > in(1).x
             : op == "GreaterOrEqual" ? in(0).x >= in(1).x
             : op == "Less"           ? in(0).x < in(1).x
                                      : in(0).x <= in(1).x);
      CHECK((op == "Greater" || op == "GreaterOrEqual" || op == "Less" || op == "LessOrEqual"));
    }
  }
  return values.at("y");
}

long double element(const tensor& t, size_t i) {
  switch (t.type()) {
    case dtype::int32: return t.as<int32_t>()[i];
    case dtype::int64: return static_cast<long double>(t.as<int64_t>()[i]);
    case dtype::boolean: return t.as<bool>()[i] ? 1 : 0;
    default: return t.as<uint8_t>()[i];
  }
}

/// Checks for each number that the ONNX model computes what ours does.
template <class T>
void check_same(const std::function<symbol(graph&, symbol)>& f, const std::vector<T>& numbers) {
  const auto count = static_cast<int64_t>(numbers.size());
  const bool wide = std::is_same_v<T, double>;
  initialised e{{"same", {{"x", wide ? dtype::float64 : dtype::float32, {count}}}, [&f](graph& g, const features& x) {
                   return std::map<std::string, symbol>{{"y", f(g, x["x"])}};
                 }}};
  auto caller = e.m.caller({.rows = {}});
  REQUIRE_MESSAGE(caller, why(caller));
  const auto ours = caller->call({{"x", tensor::of<T>({1, count}, std::span<const T>{numbers})}});
  REQUIRE_MESSAGE(ours, why(ours));
  const auto model = e.written();
  for (size_t i = 0; i < numbers.size(); ++i) {
    CAPTURE(numbers[i]);
    CHECK(value_in_onnx(model, {wide ? as_double : as_float, static_cast<long double>(numbers[i])}).x
          == element(ours->at("y"), i));
  }
}

/// Numbers at, next to and beyond the ends of each integer dtype, and those that are no numbers.
template <class T>
std::vector<T> hard_to_cast() {
  std::vector<T> all{std::numeric_limits<T>::quiet_NaN(), T{0}, static_cast<T>(0.9), static_cast<T>(1.5)};
  for (const double end : {1.0, 254.75, 255.0, 256.0, 2147483646.5, 2147483647.0, 0x1p31, 0x1p32, 0x1p63, 0x1p64, 1e30,
                           static_cast<double>(std::numeric_limits<T>::max()), std::numeric_limits<double>::infinity()})
    for (const T x : {static_cast<T>(end), std::nextafter(static_cast<T>(end), T{0}),
                      std::nextafter(static_cast<T>(end), std::numeric_limits<T>::infinity())})
      all.insert(all.end(), {x, -x});
  return all;
}

}  // namespace

TEST_CASE("a cast to an integer in ONNX is given no number out of range, and its result is ours") {
  for (const dtype to : {dtype::int32, dtype::int64, dtype::uint8, dtype::boolean}) {
    CAPTURE(to_string(to));
    const auto f = [to](graph&, symbol x) { return cast(x, to); };
    check_same<float>(f, hard_to_cast<float>());
    check_same<double>(f, hard_to_cast<double>());
  }
}

TEST_CASE("booleans that are compared are numbers in ONNX, and the result is ours") {
  using comparison = symbol (*)(symbol, symbol, std::source_location);
  for (const comparison compare :
       {comparison{less}, comparison{less_equal}, comparison{greater}, comparison{greater_equal}})
    check_same<float>(
        [compare](graph& g, symbol x) {
          const auto above = [&](float number) { return greater(x, g.constant(tensor::scalar(number))); };
          return compare(above(1), less(x, g.constant(tensor::scalar(3.0f))), std::source_location::current());
        },
        {0, 2, 4, NAN});
}

}  // namespace troupe
