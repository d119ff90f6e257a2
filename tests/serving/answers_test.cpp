#include "serving/answers.hpp"

#include "tests/serving/fake_servable.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace troupe {

namespace {

const served_signatures& signatures() {
  static const test::fake_servable one{std::make_shared<test::fake_facts>()};
  return one.signatures();
}

const std::vector<tensor> outputs{tensor::of<float>({2, 2}, {0.1f, NAN, 1e10f, INFINITY}),
                                  tensor::of<int64_t>({2}, {1, 5})};

}  // namespace

TEST_CASE(
    "an answer by rows has an object for each row, with words where an output has them and null where it is not "
    "finite") {
  const auto body = predict_answer({.signature = "serving_default", .by_rows = true, .rows = 2},
                                   signatures().at("serving_default"), outputs);
  CHECK(body == "{\"predictions\": [{\"y\": [0.1, null], \"parity\": 1, \"parity_word\": \"odd\"}, "
                "{\"y\": [1e+10, null], \"parity\": 5, \"parity_word\": null}]}\n");
}

TEST_CASE("an answer by columns has a list for each output, and one output alone no name") {
  const auto body = predict_answer({.signature = "serving_default", .by_rows = false, .rows = 2},
                                   signatures().at("serving_default"), outputs);
  CHECK(
      body
      == "{\"outputs\": {\"y\": [[0.1, null], [1e+10, null]], \"parity\": [1, 5], \"parity_word\": [\"odd\", "
         "null]}}\n");
  const std::vector<tensor> total{tensor::of<int64_t>({2}, {7, -8})};
  CHECK(predict_answer({.by_rows = false, .rows = 2}, signatures().at("sum"), total) == "{\"outputs\": [7, -8]}\n");
  CHECK(predict_answer({.by_rows = true, .rows = 2}, signatures().at("sum"), total) == "{\"predictions\": [7, -8]}\n");
}

TEST_CASE("metadata have each signature with dtypes and shapes, the batch as -1") {
  const auto j = nlohmann::json::parse(metadata_answer("m", 17, signatures()));
  CHECK(j["model_spec"]["name"] == "m");
  CHECK(j["model_spec"]["version"] == "17");
  const auto& all = j["metadata"]["signature_def"]["signature_def"];
  const auto& b = all["sum"]["inputs"]["b"];
  CHECK(b["dtype"] == "DT_INT64");
  CHECK(b["tensor_shape"]["dim"].dump()
        == R"([{"name":"","size":"-1"},{"name":"","size":"2"},{"name":"","size":"2"}])");
  CHECK(all["serving_default"]["outputs"]["parity_word"]["dtype"] == "DT_STRING");
  CHECK(all["serving_default"]["method_name"] == "tensorflow/serving/predict");
}

TEST_CASE("an error is JSON whatever its message has in it") {
  CHECK(error_answer("a \"b\"\n\xff") == "{\"error\": \"a \\\"b\\\"\\n\xef\xbf\xbd\"}\n");
  CHECK(nlohmann::json::parse(status_answer(3))["model_version_status"][0]["state"] == "AVAILABLE");
}

}  // namespace troupe
