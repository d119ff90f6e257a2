// Wrong bodies of every kind: each is refused with a message that names the place, what is there and what would be
// right.
#include "serving/predict_request.hpp"

#include <doctest/doctest.h>

namespace troupe {

namespace {

const served_signatures kinds_of_inputs{
    {"serving_default", {.inputs = {{"pixels", dtype::float32, {3}}}, .outputs = {}}},
    {"kinds",
     {.inputs = {{"flag", dtype::boolean, {}},
                 {"byte", dtype::uint8, {}},
                 {"small", dtype::int32, {}},
                 {"real", dtype::float64, {}}},
      .outputs = {}}},
    {"grid", {.inputs = {{"g", dtype::int64, {2, 3}}}, .outputs = {}}},
    {"none", {.inputs = {{"e", dtype::float32, {0}}}, .outputs = {}}}};

struct bad_body {
  const char* body;
  const char* message;
};

void refused(const bad_body& b) {
  CAPTURE(b.body);
  request_memory all{1 << 20};
  const auto request = parse_predict_request(b.body, kinds_of_inputs, 4, &all);
  CHECK(all.used() == 0);
  REQUIRE_FALSE(request);
  CHECK(request.error().category == errc::invalid_argument);
  CHECK(request.error().message == b.message);
}

std::string row_of_kinds(const char* flag, const char* byte, const char* small, const char* real) {
  return std::string{R"({"signature_name": "kinds", "instances": [{"flag": )"} + flag + ", \"byte\": " + byte
         + ", \"small\": " + small + ", \"real\": " + real + "}]}";
}

}  // namespace

TEST_CASE("what is no JSON is refused at its first byte that cannot be") {
  for (const auto& b : std::initializer_list<bad_body>{
           {"", "the body is no JSON at byte 1"},
           {" ", "the body is no JSON at byte 2"},
           {"pixels", "the body is no JSON at byte 1"},
           {"{", "the body is no JSON at byte 2"},
           {"{]", "the body is no JSON at byte 2"},
           {"{\"instances\"", "the body is no JSON at byte 13"},
           {"{\"instances\" [[1,2,3]]}", "the body is no JSON at byte 14"},
           {"{\"instances\": [[1,2,3]]", "the body is no JSON at byte 24"},
           {"{\"instances\": [[1,2,3]}", "the body is no JSON at byte 23"},
           {"{\"instances\": [[1,2,3]]}}", "the body is no JSON at byte 25"},
           {"{\"instances\": [[1,2,3]]} {}", "the body is no JSON at byte 26"},
           {"{\"instances\": [[1,2,3],]}", "the body is no JSON at byte 24"},
           {"{\"instances\": [[1,2,3,]]}", "the body is no JSON at byte 23"},
           {"{\"instances\": [[1,,3]]}", "the body is no JSON at byte 19"},
           {"{\"instances\": [[1 2,3]]}", "the body is no JSON at byte 19"},
           {"{\"instances\": [[01,2,3]]}", "the body is no JSON at byte 18"},
           {"{\"instances\": [[+1,2,3]]}", "the body is no JSON at byte 17"},
           {"{\"instances\": [[.5,2,3]]}", "the body is no JSON at byte 17"},
           {"{\"instances\": [[1.,2,3]]}", "the body is no JSON at byte 19"},
           {"{\"instances\": [[1e,2,3]]}", "the body is no JSON at byte 19"},
           {"{\"instances\": [[NaN,2,3]]}", "the body is no JSON at byte 17"},
           {"{\"instances\": [[nan,2,3]]}", "the body is no JSON at byte 18"},
           {"{\"instances\": [[Infinity,2,3]]}", "the body is no JSON at byte 17"},
           {"{\"instances\": [[0x1,2,3]]}", "the body is no JSON at byte 18"},
           {"{\"instances\": [[True,2,3]]}", "the body is no JSON at byte 17"},
           {"{\"instances\": [[tru,2,3]]}", "the body is no JSON at byte 20"},
           {"{instances: [[1,2,3]]}", "the body is no JSON at byte 2"},
           {"{'instances': [[1,2,3]]}", "the body is no JSON at byte 2"},
           {"{\"instances\": [[1,2,3]] // three\n}", "the body is no JSON at byte 25"},
           {"{\"instances\": [[1,2,\"3]]}", "the body is no JSON at byte 26"},
           {"{\"instances\": [[1,2,\"\\x\"]]}", "the body is no JSON at byte 23"},
           {"{\"instances\": [[1,2,\"\\ud834\"]]}", "the body is no JSON at byte 28"},
           {"{\"instances\": [[1,2,\"\x80\"]]}", "the body is no JSON at byte 22"},
           {"{\"instances\": [[1,2,\"\n\"]]}", "the body is no JSON at byte 22"},
           {"{\"instances\": (1,2,3)}", "the body is no JSON at byte 15"},
           {"instances=1&x=2", "the body is no JSON at byte 1"},
           {"<predict/>", "the body is no JSON at byte 1"},
           {"\x0a\x05 \x12", "the body is no JSON at byte 2"},
       })
    refused(b);
}

TEST_CASE("a body without one of the two forms is refused with what it has") {
  for (const auto& b : std::initializer_list<bad_body>{
           {"null", "the body is null, and should be an object with 'instances' or 'inputs'"},
           {"[[1,2,3]]", "the body is a list of 1, and should be an object with 'instances' or 'inputs'"},
           {"\"instances\"", "the body is \"instances\", and should be an object with 'instances' or 'inputs'"},
           {"17", "the body is 17, and should be an object with 'instances' or 'inputs'"},
           {"{}", "the body has neither 'instances' (rows) and 'inputs' (columns), and needs one of them"},
           {R"({"Instances": [[1,2,3]]})",
            "the body has neither 'instances' (rows) and 'inputs' (columns), and needs one of them"},
           {R"({"instances ": [[1,2,3]]})",
            "the body has neither 'instances' (rows) and 'inputs' (columns), and needs one of them"},
           {R"({"x": {"instances": [[1,2,3]]}})",
            "the body has neither 'instances' (rows) and 'inputs' (columns), and needs one of them"},
           {R"({"instances": [[1,2,3]], "inputs": [[1,2,3]]})",
            "the body has both 'instances' (rows) and 'inputs' (columns), and may have one of them"},
           {R"({"instances": null, "inputs": null})",
            "the body has both 'instances' (rows) and 'inputs' (columns), and may have one of them"},
           {R"({"instances": [[1,2,3]], "instances": [[4,5,6]]})", "the body has 'instances' twice"},
           {R"({"instances": [[1,2,3]], "inst\u0061nces": [[4,5,6]]})", "the body has 'instances' twice"},
           {R"({"inputs": 1, "inputs": [[4,5,6]]})", "the body has 'inputs' twice"},
           {R"({"signature_name": "grid", "signature_name": "serving_default", "inputs": [[4,5,6]]})",
            "the body has 'signature_name' twice"},
           {R"({"signature_name": null, "instances": [[1,2,3]]})", "'signature_name' is null, and should be a text"},
           {R"({"signature_name": ["grid"], "instances": [[1,2,3]]})",
            "'signature_name' is a list of 1, and should be a text"},
           {R"({"signature_name": {}, "instances": [[1,2,3]]})", "'signature_name' is an object, and should be a text"},
           {R"({"signature_name": "Grid", "instances": [[1,2,3]]})",
            "there is no signature 'Grid'; there are grid, kinds, none, serving_default"},
           {R"({"signature_name": "\u001b[2J", "instances": [[1,2,3]]})",
            "there is no signature '?[2J'; there are grid, kinds, none, serving_default"},
           {R"({"signature_name": "0123456789012345678901234567890123456789xyz", "instances": [[1,2,3]]})",
            "there is no signature '0123456789012345678901234567890123456789...'; there are grid, kinds, none, "
            "serving_default"},
       })
    refused(b);
}

TEST_CASE("rows of another form, or too many, are refused with the place") {
  for (const auto& b : std::initializer_list<bad_body>{
           {R"({"instances": null})", "'instances' is null, and should be a list of rows"},
           {R"({"instances": true})", "'instances' is true, and should be a list of rows"},
           {R"({"instances": "[[1,2,3]]"})", "'instances' is \"[[1,2,3]]\", and should be a list of rows"},
           {R"({"instances": {"pixels": [1,2,3]}})", "'instances' is an object, and should be a list of rows"},
           {R"({"instances": []})", "there are no rows"},
           {R"({"instances": [[],[],[],[],[]]})", "there are 5 rows, and a request takes at most 4"},
           {R"({"instances": [1,2,3]})", "instances[0]: 1 where a list of 3 is wanted: a row of pixels is float32[3]"},
           {R"({"instances": [[1,2,3],{"pixels": [1,2,3]}]})", "instances[1] is an object, and instances[0] is none"},
           {R"({"instances": [{"pixels": [1,2,3]},[1,2,3]]})",
            "instances[1] is a list of 3, and instances[0] is an object"},
           {R"({"instances": [{"pixels": [1,2,3]},null]})", "instances[1] is null, and instances[0] is an object"},
           {R"({"instances": [{}]})", "instances[0] has no 'pixels': the inputs are pixels"},
           {R"({"instances": [{"Pixels": [1,2,3]}]})", "instances[0] has no 'pixels': the inputs are pixels"},
           {R"({"instances": [{"pixels": [1,2,3], "pixels": [1,2,3]}]})",
            "instances[0] has 'pixels' twice: the inputs are pixels"},
           {R"({"instances": [{"pixels": [1,2,3]}, {"pixels": [1,2,3], "\u001b": 1}]})",
            "instances[1] has an unknown input '?': the inputs are pixels"},
           {R"({"signature_name": "kinds", "instances": [1]})",
            "instances[0] is 1, and should be an object with flag, byte, small, real"},
           {R"({"signature_name": "kinds", "instances": [{"flag": true, "byte": 1, "real": 1}]})",
            "instances[0] has no 'small': the inputs are flag, byte, small, real"},
           {R"({"inputs": 3})", "'inputs' is 3, and should be an object with pixels"},
           {R"({"inputs": "x"})", "'inputs' is \"x\", and should be an object with pixels"},
           {R"({"inputs": []})", "there are no rows"},
           {R"({"inputs": {}})", "'inputs' has no 'pixels': the inputs are pixels"},
           {R"({"inputs": {"pixels": []}})", "there are no rows"},
           {R"({"inputs": {"pixels": {"b64": "AAAA"}}})", "inputs.pixels is an object, and should be a list of rows"},
           {R"({"inputs": {"pixels": [1,2,3]}})",
            "inputs.pixels[0]: 1 where a list of 3 is wanted: a row of pixels is float32[3]"},
           {R"({"inputs": {"pixels": [[1,2,3]], "pixels": [[1,2,3]]}})",
            "'inputs' has 'pixels' twice: the inputs are pixels"},
           {R"({"inputs": {"pixels": [[1,2,3]], "more": 1}})",
            "'inputs' has an unknown input 'more': the inputs are pixels"},
           {R"({"inputs": [[1,2,3],[1,2,3],[1,2,3],[1,2,3],[1,2,3]]})",
            "there are 5 rows, and a request takes at most 4"},
           {R"({"signature_name": "kinds", "inputs": [[1]]})",
            "'inputs' is a list of 1, and should be an object with flag, byte, small, real"},
           {R"({"signature_name": "kinds", "inputs": {"flag": [true], "byte": [1, 2], "small": [1], "real": [1]}})",
            "inputs.byte has 2 rows, and inputs.flag has 1"},
           {R"({"signature_name": "kinds", "inputs": {"real": [1], "small": 1, "byte": [1], "flag": [true]}})",
            "inputs.small is 1, and should be a list of rows"},
       })
    refused(b);
}

TEST_CASE("a value of another shape is refused with the place of the outermost list that is wrong") {
  for (const auto& b : std::initializer_list<bad_body>{
           {R"({"instances": [[1,2,3],[1,2]]})",
            "instances[1]: a list of 2 where a list of 3 is wanted: a row of pixels is float32[3]"},
           {R"({"instances": [[1,2,3],[1,2,3,4]]})",
            "instances[1]: a list of 4 where a list of 3 is wanted: a row of pixels is float32[3]"},
           {R"({"instances": [[]]})",
            "instances[0]: a list of 0 where a list of 3 is wanted: a row of pixels is float32[3]"},
           {R"({"instances": [["a",2]]})",
            "instances[0]: a list of 2 where a list of 3 is wanted: a row of pixels is float32[3]"},
           {R"({"instances": [[[1],2,3]]})",
            "instances[0][0]: a list of 1 where a finite number that float32 holds is wanted"},
           {R"({"instances": [[1,2,[]]]})",
            "instances[0][2]: a list of 0 where a finite number that float32 holds is wanted"},
           {R"({"instances": [[1,{},3]]})",
            "instances[0][1]: an object where a finite number that float32 holds is wanted"},
           {R"({"instances": [{"pixels": {"b64": "AAAA"}}]})",
            "instances[0].pixels: an object where a list of 3 is wanted: a row of pixels is float32[3]"},
           {R"({"instances": [{"pixels": 1}]})",
            "instances[0].pixels: 1 where a list of 3 is wanted: a row of pixels is float32[3]"},
           {R"({"signature_name": "grid", "instances": [[[1,2,3],[4,5,6],[7,8,9]]]})",
            "instances[0]: a list of 3 where a list of 2 is wanted: a row of g is int64[2, 3]"},
           {R"({"signature_name": "grid", "instances": [[[1,2,3],[4,5]]]})",
            "instances[0][1]: a list of 2 where a list of 3 is wanted: a row of g is int64[2, 3]"},
           {R"({"signature_name": "grid", "instances": [[["x",2,3]]]})",
            "instances[0]: a list of 1 where a list of 2 is wanted: a row of g is int64[2, 3]"},
           {R"({"signature_name": "grid", "inputs": {"g": [[[1,2,3],[4,5,6]],[[1,2,3],[4,"5",6]]]}})",
            "inputs.g[1][1][1]: \"5\" where a whole number that int64 holds is wanted"},
           {R"({"signature_name": "grid", "inputs": [[[1,2,3],null]]})",
            "inputs[0][1]: null where a list of 3 is wanted: a row of g is int64[2, 3]"},
           {R"({"signature_name": "none", "instances": [[1]]})",
            "instances[0]: a list of 1 where a list of 0 is wanted: a row of e is float32[0]"},
           {R"({"signature_name": "none", "instances": [0]})",
            "instances[0]: 0 where a list of 0 is wanted: a row of e is float32[0]"},
       })
    refused(b);
}

TEST_CASE("a value of another type, or out of its range, is refused with the place") {
  for (const auto& b : std::initializer_list<bad_body>{
           {R"({"instances": [[1,2,"3"]]})",
            "instances[0][2]: \"3\" where a finite number that float32 holds is wanted"},
           {R"({"instances": [[1,2,null]]})",
            "instances[0][2]: null where a finite number that float32 holds is wanted"},
           {R"({"instances": [[1,false,3]]})",
            "instances[0][1]: false where a finite number that float32 holds is wanted"},
           {R"({"instances": [[3.5e38,2,3]]})",
            "instances[0][0]: 3.5e+38 where a finite number that float32 holds is wanted"},
           {R"({"instances": [[1,2,3],[1,1e999,3]]})",
            "instances[1][1]: 1e999 where a finite number that float32 holds is wanted"},
           {R"({"instances": [[1,2,"NaN"]]})",
            "instances[0][2]: \"NaN\" where a finite number that float32 holds is wanted"},
           {R"({"instances": [[1,2,"0123456789012345678901234567890123456789"]]})",
            "instances[0][2]: \"012345678901234567890123456789012345678... where a finite number that float32 holds is "
            "wanted"},
           {R"({"signature_name": "grid", "instances": [[[1,2,3],[4,5,6.0]]]})",
            "instances[0][1][2]: 6.0 where a whole number that int64 holds is wanted"},
           {R"({"signature_name": "grid", "instances": [[[1,2,3],[4,5,1e2]]]})",
            "instances[0][1][2]: 100.0 where a whole number that int64 holds is wanted"},
           {R"({"signature_name": "grid", "instances": [[[1,2,3],[4,5,9223372036854775808]]]})",
            "instances[0][1][2]: 9223372036854775808 where a whole number that int64 holds is wanted"},
       })
    refused(b);
  for (const auto& [flag, byte, small, real, message] :
       std::initializer_list<std::tuple<const char*, const char*, const char*, const char*, const char*>>{
           {"1", "1", "1", "1", "instances[0].flag: 1 where true or false is wanted"},
           {"\"true\"", "1", "1", "1", "instances[0].flag: \"true\" where true or false is wanted"},
           {"[true]", "1", "1", "1", "instances[0].flag: a list of 1 where true or false is wanted"},
           {"true", "256", "1", "1", "instances[0].byte: 256 where a whole number that uint8 holds is wanted"},
           {"true", "-1", "1", "1", "instances[0].byte: -1 where a whole number that uint8 holds is wanted"},
           {"true", "true", "1", "1", "instances[0].byte: true where a whole number that uint8 holds is wanted"},
           {"true", "1", "2147483648", "1",
            "instances[0].small: 2147483648 where a whole number that int32 holds is wanted"},
           {"true", "1", "-2147483649", "1",
            "instances[0].small: -2147483649 where a whole number that int32 holds is wanted"},
           {"true", "1", "0.5", "1", "instances[0].small: 0.5 where a whole number that int32 holds is wanted"},
           {"true", "1", "1", "1e309", "instances[0].real: 1e309 where a finite number that float64 holds is wanted"},
           {"true", "1", "1", "[1]",
            "instances[0].real: a list of 1 where a finite number that float64 holds is wanted"},
       })
    refused({row_of_kinds(flag, byte, small, real).c_str(), message});
}

TEST_CASE("other members of a body are passed over, whatever they are, and an empty signature name is none") {
  const auto request = parse_predict_request(
      R"({"model": {"a": [1, {"instances": 1}]}, "signature_name": "", "instances": [[1, 2, 3]], )"
      R"("x": "]}", "x": null})",
      kinds_of_inputs, 4);
  REQUIRE(request);
  CHECK(request->inputs[0] == tensor::of<float>({1, 3}, {1, 2, 3}));
}

}  // namespace troupe
