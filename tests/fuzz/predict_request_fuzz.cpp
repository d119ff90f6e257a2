#include "serving/answers.hpp"
#include "serving/predict_request.hpp"
#include "storage/encodings/json_cursor.hpp"
#include "tests/fuzz/target.hpp"

namespace troupe::fuzz {

namespace {

const served_signatures signatures{
    {"serving_default", {.inputs = {{"x", dtype::float32, {2}}}, .outputs = {{"x", dtype::float32, {2}}}}},
    {"kinds",
     {.inputs = {{"i", dtype::int32, {}},
                 {"b", dtype::boolean, {1}},
                 {"u", dtype::uint8, {2, 1}},
                 {"d", dtype::float64, {}},
                 {"l", dtype::int64, {0}}},
      .outputs = {{"i", dtype::int32, {}},
                  {"b", dtype::boolean, {1}},
                  {"u", dtype::uint8, {2, 1}},
                  {"d", dtype::float64, {}},
                  {"l", dtype::int64, {0}}},
      .words = {{"w", 0, {"zero", "one"}}}}},
    {"large", {.inputs = {{"x", dtype::float32, {1 << 30}}}, .outputs = {}}}};

}  // namespace

std::vector<std::string> seeds() {
  return {
      R"({"instances": [[1, 2.5], [3, -4e-3]]})",
      R"({"signature_name": "serving_default", "inputs": {"x": [[1, 2]]}})",
      R"({"signature_name": "kinds", "instances": [{"i": -1, "b": [true], "u": [[0], [255]], "d": 1e300, "l": []}]})",
      R"({"signature_name": "kinds", "inputs": {"i": [1], "b": [[false]], "u": [[[1], [2]]], "d": [0.5], "l": [[]]}})",
      R"({"signature_name": "large", "instances": [[], []]})",
      R"({"x": {"y": [null, "\"]}", -0.5e-3]}, "inst\u0061nces": [{"x": [1e400, 1e-400]}], "signature_name": ""})",
      R"({"signature_name": "kinds", "instances": [{"l": [], "d": 1, "u": [[0], [256]], )"
      R"("b": [1], "i": 2147483648, "i": "\ud834\udd1e"}]})",
      "\xef\xbb\xbf{\"inputs\": [[0, 0], [0, 0, 0]], \"\xc3\xa9\": \"\"}",
      nested("[", "", "]"),
      nested("{\"inputs\":", "1", "}")};
}

void run(std::string_view input) {
  request_memory all{1 << 20};
  const auto request = parse_predict_request(input, signatures, 100, &all);
  if (!request) {
    require(all.used() == 0, "what is refused holds nothing");
    return require(!request.error().message.empty() && request.error().message.size() < 1000,
                   "an error says something, and not all of the body");
  }
  require(!find_flaw(input), "what is read is JSON");
  require(all.used() <= 8 * static_cast<int64_t>(input.size()), "tensors are no larger than the body can make them");
  const auto& s = signatures.at(request->signature);
  require(request->rows >= 1 && request->rows <= 100 && request->inputs.size() == s.inputs.size(),
          "there are as many rows and inputs as may be");
  for (size_t i = 0; i < s.inputs.size(); ++i)
    require(request->inputs[i].type() == s.inputs[i].type
                && request->inputs[i].dims() == s.inputs[i].dims.prepend(request->rows),
            "each fits its signature");
  if (s.outputs.empty())
    return;
  // An accepted request gets an answer of its own inputs.
  const auto answer = predict_answer(*request, s, request->inputs);
  require(answer.ends_with("}\n"), "an answer is whole");
  require(std::ssize(answer) <= request->rows * bytes_of_row(s).text + answer_frame_bytes,
          "an answer is no longer than was asked for before it");
}

}  // namespace troupe::fuzz
