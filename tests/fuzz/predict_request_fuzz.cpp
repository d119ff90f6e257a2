#include "serving/predict_request.hpp"

#include "serving/answers.hpp"
#include "tests/fuzz/target.hpp"

namespace troupe::fuzz {

namespace {

const served_signatures signatures{
  {"serving_default", {.inputs = {{"x", dtype::float32, {2}}}, .outputs = {{"x", dtype::float32, {2}}}}},
  {"kinds", {.inputs = {{"i", dtype::int32, {}}, {"b", dtype::boolean, {1}}, {"u", dtype::uint8, {2, 1}}, {"d", dtype::float64, {}}, {"l", dtype::int64, {0}}},
             .outputs = {{"i", dtype::int32, {}}, {"b", dtype::boolean, {1}}, {"u", dtype::uint8, {2, 1}}, {"d", dtype::float64, {}}, {"l", dtype::int64, {0}}},
             .words = {{"w", 0, {"zero", "one"}}}}},
  {"large", {.inputs = {{"x", dtype::float32, {1 << 30}}}, .outputs = {}}}};

}  // namespace

std::vector<std::string> seeds() {
  return {R"({"instances": [[1, 2.5], [3, -4e-3]]})", R"({"signature_name": "serving_default", "inputs": {"x": [[1, 2]]}})",
          R"({"signature_name": "kinds", "instances": [{"i": -1, "b": [true], "u": [[0], [255]], "d": 1e300, "l": []}]})",
          R"({"signature_name": "kinds", "inputs": {"i": [1], "b": [[false]], "u": [[[1], [2]]], "d": [0.5], "l": [[]]}})",
          R"({"signature_name": "large", "instances": [[], []]})", nested("[", "", "]"), nested("{\"inputs\":", "1", "}")};
}

void run(std::string_view input) {
  const auto request = parse_predict_request(input, signatures, 100);
  if (!request)
    return require(!request.error().message.empty(), "an error says something");
  const auto& s = signatures.at(request->signature);
  require(request->rows >= 1 && request->rows <= 100 && request->inputs.size() == s.inputs.size(), "there are as many rows and inputs as may be");
  for (size_t i = 0; i < s.inputs.size(); ++i)
    require(request->inputs[i].type() == s.inputs[i].type && request->inputs[i].dims() == s.inputs[i].dims.prepend(request->rows), "each fits its signature");
  if (s.outputs.empty())
    return;
  // What was read is answered, and the answer is read as what it was made of.
  const auto answer = predict_answer(*request, s, request->inputs);
  require(answer.ends_with("}\n"), "an answer is whole");
}

}  // namespace troupe::fuzz
