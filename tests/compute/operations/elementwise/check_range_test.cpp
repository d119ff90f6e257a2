// A step fails if a value that the model checks lies outside of a range.
#include "tests/compute/operations/values.hpp"
#include "tests/support/has.hpp"

#include <limits>

namespace troupe {

using namespace test;

namespace {

const std::source_location here = std::source_location::current();
constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

/// The message of the step's error; empty if there is none.
std::string error_of(const tensor& x, double least, double greatest) {
  graph g;
  model_spec spec;
  spec.mode = mode::predict;
  const auto scope = g.scope("tower");
  spec.predictions["value"] = check_range(g.constant(x), least, greatest, "shares", here);
  const auto p = program::make(g, spec, *parameter_layout::of(g, std::nullopt), {});
  REQUIRE_MESSAGE(p, (p ? "" : p.error().message));
  const auto status = (*p)->run({});
  CHECK((status == step_status::ok || status == step_status::bad_input));
  if (status == step_status::ok)
    CHECK((*p)->output(0) == x);
  return status == step_status::ok ? "" : (*p)->last_error().message;
}

/// The part of the message about the value: "1.5 at [1] is not in [0, 1]".
std::string complaint(const tensor& x, double least, double greatest) {
  const auto text = error_of(x, least, greatest);
  if (text.empty())
    return text;
  const std::string before = "shares: ", after = ": tower/check_range (";
  CHECK(text.starts_with(before));
  CHECK(has(text, after));
  CHECK(has(text, "check_range_test.cpp:" + std::to_string(here.line()) + ")"));
  return text.substr(before.size(), text.find(after) - before.size());
}

}  // namespace

TEST_CASE(
    "check_range passes on what lies within, bounds included, and names place and range of the first element that does "
    "not") {
  CHECK(complaint(f32({2, 2}, {0, 1, 0.5f, 1}), 0, 1) == "");
  CHECK(complaint(f32({0}, {}), 0, 1) == "");
  CHECK(complaint(f32({2, 2}, {0, 1, 1.5f, -1}), 0, 1) == "1.5 at [1, 0] is not in [0, 1]");
  CHECK(complaint(f64({2}, {0, -1e-300}), 0, 1) == "-1e-300 at [1] is not in [0, 1]");
  CHECK(complaint(f64({}, {nan}), -5, 5) == "nan is not in [-5, 5]");
}

TEST_CASE("check_range takes bounds that are infinite, which no element may be") {
  CHECK(complaint(f64({2}, {0, 1e308}), 0, inf) == "");
  CHECK(complaint(f64({2}, {0, inf}), 0, inf) == "inf at [1] is not in [0, inf)");
  CHECK(complaint(f32({2}, {0, -static_cast<float>(inf)}), -inf, inf) == "-inf at [1] is not in (-inf, inf)");
  CHECK(complaint(i64({2}, {std::numeric_limits<int64_t>::min(), 3}), -inf, 3) == "");
}

TEST_CASE("check_range compares integers exactly") {
  CHECK(complaint(i32({3}, {0, 9, 10}), 0, 9) == "10 at [2] is not in [0, 9]");
  CHECK(complaint(i32({1}, {7}), 3e9, 4e9) == "7 at [0] is not in [3e+09, 4e+09]");
  const int64_t large = int64_t{1} << 53;
  CHECK(complaint(i64({2}, {large, -large}), -0x1p53, 0x1p53) == "");
  CHECK(complaint(i64({1}, {large + 1}), 0, 0x1p53) != "");
}

TEST_CASE("check_range refuses ranges without an element, and bounds of integers that are not whole") {
  const auto refused = [](const tensor& x, double least, double greatest) {
    return refusal([&](graph& g) { return check_range(g.constant(x), least, greatest, "x"); });
  };
  const std::string
      bounds = "check_range: least must be at most greatest, and both whole numbers for an integer operand";
  CHECK(has(refused(f32({1}, {0}), 1, 0), bounds));
  CHECK(has(refused(f32({1}, {0}), nan, 1), bounds));
  CHECK(has(refused(i32({1}, {0}), 0, 0.5), bounds));
  CHECK(has(refused(bools({1}, {true}), 0, 1), "check_range: its operand must be a number, not boolean [1]"));
}

}  // namespace troupe
