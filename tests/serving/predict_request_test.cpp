#include "serving/predict_request.hpp"

#include "tests/serving/fake_servable.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe {

using test::has;

namespace {

const test::fake_servable& model() {
  static const test::fake_servable one{std::make_shared<test::fake_facts>()};
  return one;
}

predict_request parsed(std::string_view body) {
  auto request = parse_predict_request(body, model().signatures(), 100);
  REQUIRE_MESSAGE(request, (request ? "" : to_text(request.error())));
  return std::move(*request);
}

void refused(std::string_view body, std::string_view message) {
  CAPTURE(body);
  const auto request = parse_predict_request(body, model().signatures(), 100);
  REQUIRE_FALSE(request);
  CHECK(request.error().category == errc::invalid_argument);
  CHECK(request.error().message == message);
}

}  // namespace

TEST_CASE("rows are read as values or as objects, columns as a list or as an object of lists") {
  const auto x = tensor::of<float>({2, 2}, {1, 2.5f, 3, -4e-3f});
  for (const auto* body :
       {R"({"instances": [[1, 2.5], [3, -4e-3]]})", R"({"instances": [{"x": [1, 2.5]}, {"x": [3, -4e-3]}]})",
        R"({"inputs": [[1, 2.5], [3, -4e-3]]})",
        R"({"signature_name": "serving_default", "inputs": {"x": [[1, 2.5], [3, -4e-3]]}})"}) {
    const auto request = parsed(body);
    CHECK(request.rows == 2);
    REQUIRE(request.inputs.size() == 1);
    CHECK(request.inputs[0] == x);
    CHECK(request.by_rows == (has(std::string_view{body}, "instances")));
  }
}

TEST_CASE("several inputs are in the order of the signature, whatever theirs in the body") {
  for (const auto* body : {R"({"signature_name": "sum", "instances": [{"b": [[1, 2], [3, 4]], "a": 7}]})",
                           R"({"signature_name": "sum", "inputs": {"b": [[[1, 2], [3, 4]]], "a": [7]}})"}) {
    const auto request = parsed(body);
    CHECK(request.signature == "sum");
    REQUIRE(request.inputs.size() == 2);
    CHECK(request.inputs[0] == tensor::of<int64_t>({1}, {7}));
    CHECK(request.inputs[1] == tensor::of<int64_t>({1, 2, 2}, {1, 2, 3, 4}));
  }
}

TEST_CASE("what is no request is refused with its place, what is there and what would be right") {
  refused("", "the body is no JSON at byte 1");
  refused("{\"instances\": [", "the body is no JSON at byte 16");
  refused(std::string(100, '['), "the body nests deeper than 64 at byte 64");
  refused("[]", "the body is a list of 0, and should be an object with 'instances' or 'inputs'");
  refused("{}", "the body has neither 'instances' (rows) and 'inputs' (columns), and needs one of them");
  refused(R"({"instances": [], "inputs": []})",
          "the body has both 'instances' (rows) and 'inputs' (columns), and may have one of them");
  refused(R"({"signature_name": 3, "instances": []})", "'signature_name' is 3, and should be a text");
  refused(R"({"signature_name": "none", "instances": []})",
          "there is no signature 'none'; there are serving_default, sum");
  refused(R"({"instances": 5})", "'instances' is 5, and should be a list of rows");
  refused(R"({"instances": []})", "there are no rows");
  refused(
      "{\"instances\": [" +
          [] {
            std::string rows = "[1, 2]";
            for (int i = 0; i < 100; ++i)
              rows += ", [1, 2]";
            return rows;
          }()
          + "]}",
      "there are 101 rows, and a request takes at most 100");
  refused(R"({"instances": [{"x": [1, 2]}, [1, 2]]})", "instances[1] is a list of 2, and instances[0] is an object");
  refused(R"({"instances": [{"y": [1, 2]}]})", "instances[0] has no 'x': the inputs are x");
  refused(R"({"instances": [{"x": [1, 2], "z": 1}]})", "instances[0] has an unknown input 'z': the inputs are x");
  refused(R"({"signature_name": "sum", "instances": [[1]]})",
          "instances[0] is a list of 1, and should be an object with a, b");
  refused(R"({"inputs": {"x": 1}})", "inputs.x is 1, and should be a list of rows");
  refused(R"({"signature_name": "sum", "inputs": {"a": [1, 2], "b": [[[1, 2], [3, 4]]]}})",
          "inputs.b has 1 rows, and inputs.a has 2");
}

TEST_CASE("a value of another shape or type is refused with its place") {
  refused(R"({"instances": [[1, 2], [1, 2, 3]]})",
          "instances[1]: a list of 3 where a list of 2 is wanted: a row of x is float32[2]");
  refused(R"({"instances": [[1, 2], 7]})", "instances[1]: 7 where a list of 2 is wanted: a row of x is float32[2]");
  refused(R"({"instances": [[1, "two"]]})",
          "instances[0][1]: \"two\" where a finite number that float32 holds is wanted");
  refused(R"({"instances": [[1, null]]})", "instances[0][1]: null where a finite number that float32 holds is wanted");
  refused(R"({"instances": [[1, 1e39]]})", "instances[0][1]: 1e+39 where a finite number that float32 holds is wanted");
  refused(R"({"instances": [[1, true]]})", "instances[0][1]: true where a finite number that float32 holds is wanted");
  refused(R"({"signature_name": "sum", "instances": [{"a": 1.5, "b": [[1, 2], [3, 4]]}]})",
          "instances[0].a: 1.5 where a whole number that int64 holds is wanted");
  refused(R"({"signature_name": "sum", "instances": [{"a": 18446744073709551615, "b": [[1, 2], [3, 4]]}]})",
          "instances[0].a: 18446744073709551615 where a whole number that int64 holds is wanted");
  refused(R"({"signature_name": "sum", "inputs": {"a": [1], "b": [[[1, 2], [3]]]}})",
          "inputs.b[0][1]: a list of 1 where a list of 2 is wanted: a row of b is int64[2, 2]");
}

TEST_CASE("a body that promises rows without their values takes no memory for them") {
  const served_signatures large{
      {"serving_default", {.inputs = {{"x", dtype::float32, {1'000'000'000}}}, .outputs = {}}}};
  std::string rows = "{\"instances\": [[]";
  for (int i = 0; i < 99; ++i)
    rows += ", []";
  const auto request = parse_predict_request(rows + "]}", large, 100);
  REQUIRE_FALSE(request);
  CHECK(request.error().message
        == "instances[0]: a list of 0 where a list of 1000000000 is wanted: a row of x is float32[1000000000]");
}

TEST_CASE(
    "tensors of elements of 4 bytes take at most twice the body, of 8 bytes four times, and are given back with the "
    "request") {
  for (const auto& [type, times] : {std::pair{dtype::float32, 2}, {dtype::int64, 4}}) {
    const served_signatures dense{{"serving_default", {.inputs = {{"x", type, {1000}}}, .outputs = {}}}};
    std::string row = "[0";
    for (int i = 1; i < 1000; ++i)
      row += ",0";
    std::string rows = "{\"inputs\":[" + row + "]";
    for (int i = 1; i < 50; ++i)
      rows += "," + row + "]";
    rows += "]}";
    request_memory enough{times * std::ssize(rows)}, little{10'000};
    {
      const auto request = parse_predict_request(rows, dense, 100, &enough);
      REQUIRE(request);
      CHECK(enough.used() == 50 * 1000 * size_of(type));
    }
    CHECK(enough.used() == 0);
    const auto refused_now = parse_predict_request(rows, dense, 100, &little);
    REQUIRE_FALSE(refused_now);
    CHECK(refused_now.error() == error{errc::resource_exhausted, "there is no memory now for 50 rows"});
    CHECK(little.used() == 0);
  }
}

}  // namespace troupe
