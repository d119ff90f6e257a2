#include "storage/files/memory_file_system.hpp"
#include "tests/exports/onnx_case.hpp"

#include <cmath>
#include <cstring>
#include <set>

namespace troupe {

using namespace test;

TEST_CASE("every model of the comparison with onnxruntime has an ONNX file whose nodes read what comes before them") {
  for (const auto& one : predicting_models()) {
    CAPTURE(one.name);
    initialised e{one};
    const auto model = e.written();
    CHECK(model.ir_version() == 8);
    REQUIRE(model.opset_import_size() == 1);
    CHECK(model.opset_import(0).version() == 17);
    std::set<std::string> known;
    for (const auto& v : model.graph().input())
      known.insert(v.name());
    for (const auto& t : model.graph().initializer())
      CHECK(known.insert(t.name()).second);
    for (const auto& n : model.graph().node()) {
      for (const auto& x : n.input())
        CHECK_MESSAGE(known.contains(x), n.op_type() << " reads " << x);
      for (const auto& y : n.output())
        CHECK_MESSAGE(known.insert(y).second, y);
    }
    std::set<std::string> outputs, wanted;
    for (const auto& v : model.graph().output())
      outputs.insert(v.name());
    for (const auto& o : e.m.signatures().at("serving_default").outputs)
      wanted.insert(o.name);
    CHECK(outputs == wanted);
    const auto& dims = model.graph().input(0).type().tensor_type().shape();
    CHECK(dims.dim(0).dim_param() == "batch");
    CHECK(dims.dim(1).dim_value() == one.features[0].dims[0]);
  }
}

TEST_CASE("an operation without a twin in ONNX is named with its node, and no file is written") {
  initialised e{only([](graph&, symbol x) { return pad(x, {.low = {0, 0}, .high = {0, 0}, .between = {0, 1}}); })};
  const auto none = write_onnx(e.m, e.directory / "m.onnx");
  REQUIRE_FALSE(none);
  CHECK(none.error().category == errc::unimplemented);
  CHECK(none.error().message
        == "node 'pad': the operation pad has no twin in ONNX with these operands and attributes (opset 17)");
  CHECK_FALSE(posix_file_system()->info(e.directory / "m.onnx"));
}

namespace {

/// Computes the nodes of an element-wise ONNX model in float32 for one number, as a runtime would.
float value_in_onnx(const proto::OnnxModel& model, float x) {
  std::map<std::string, float> values{{"x", x}};
  for (const auto& t : model.graph().initializer()) {
    float value = 0;
    REQUIRE(t.raw_data().size() == sizeof value);
    std::memcpy(&value, t.raw_data().data(), sizeof value);
    values[t.name()] = value;
  }
  for (const auto& n : model.graph().node()) {
    const auto in = [&](int i) { return values.at(n.input(i)); };
    const std::string& op = n.op_type();
    auto& y = values[n.output(0)];
    y = op == "Add"        ? in(0) + in(1)
        : op == "Sub"      ? in(0) - in(1)
        : op == "Mul"      ? in(0) * in(1)
        : op == "Div"      ? in(0) / in(1)
        : op == "Exp"      ? std::exp(in(0))
        : op == "Log"      ? std::log(in(0))
        : op == "Tanh"     ? std::tanh(in(0))
        : op == "Identity" ? in(0)
        : op == "Equal"    ? (in(0) == in(1) ? 1.0f : 0.0f)
        : op == "Where"    ? (in(0) != 0 ? in(1) : in(2))
                           : std::nanf("");
  }
  return values.at("y");
}

}  // namespace

TEST_CASE(
    "expm1 and log1p in ONNX have a relative error of at most 1e-5, however near 0 they are, and the limits of ours") {
  initialised up{only([](graph&, symbol x) { return expm1(x); })},
      down{only([](graph&, symbol x) { return log1p(x); })};
  const auto expm1_there = up.written(), log1p_there = down.written();
  const auto near = [](float got, double wanted) {
    return std::abs(static_cast<double>(got) - wanted) <= 1e-5 * std::abs(wanted);
  };
  for (float magnitude = 1e-30f; magnitude < 80; magnitude *= 1.37f)
    for (const float x : {magnitude, -magnitude}) {
      CAPTURE(x);
      CHECK(near(value_in_onnx(expm1_there, x), std::expm1(static_cast<double>(x))));
      if (x > -1)
        CHECK(near(value_in_onnx(log1p_there, x), std::log1p(static_cast<double>(x))));
    }
  CHECK(value_in_onnx(expm1_there, 0) == 0);
  CHECK(value_in_onnx(log1p_there, 0) == 0);
  CHECK(value_in_onnx(expm1_there, INFINITY) == INFINITY);
  CHECK(value_in_onnx(expm1_there, -INFINITY) == -1);
  CHECK(value_in_onnx(log1p_there, INFINITY) == INFINITY);
  CHECK(value_in_onnx(log1p_there, -1) == -INFINITY);
  CHECK(near(value_in_onnx(log1p_there, 3e38f), std::log1p(static_cast<double>(3e38f))));
  CHECK(std::isnan(value_in_onnx(log1p_there, -2)));
}

TEST_CASE("a signature whose outputs need no input has no ONNX file, whatever its head, and the node is named") {
  for (const head& h : {static_cast<head>(binary_head{}), static_cast<head>(multi_class_head{.classes = 3}),
                        static_cast<head>(regression_head{})}) {
    CAPTURE(h.name);
    temporary_directory directory;
    const auto path = export_initialised(baseline_model({.head = h}), {{"x", dtype::float32, {4}}}, directory / "m");
    REQUIRE_MESSAGE(path, why(path));
    const auto none = write_onnx(opened(*path), directory / "m.onnx");
    REQUIRE_FALSE(none);
    CHECK(none.error().category == errc::unimplemented);
    CHECK(none.error().message == "node 'baseline/broadcast_to' has a row for each example and depends on no "
                                  "input, which is all that an ONNX model knows the "
                                  "number of rows by");
    CHECK_FALSE(posix_file_system()->info(directory / "m.onnx"));
  }
}

TEST_CASE("weights past the limit are in a file beside the model, each at a multiple of 64 bytes") {
  initialised e{dense_predictor({10, 16, 2})};
  const auto inside = e.written();
  const auto outside = e.written({.inside_bytes_max = 100});
  const auto data = *read_file(*posix_file_system(), e.directory / "m.onnx.data");
  int found = 0;
  for (const auto& t : outside.graph().initializer())
    if (t.data_location() == 1) {
      std::map<std::string, std::string> entries;
      for (const auto& entry : t.external_data())
        entries[entry.key()] = entry.value();
      CHECK(entries.at("location") == "m.onnx.data");
      CHECK(std::stoll(entries.at("offset")) % 64 == 0);
      CHECK(t.raw_data().empty());
      for (const auto& same : inside.graph().initializer())
        if (same.name() == t.name())
          found += same.raw_data() == data.substr(std::stoull(entries.at("offset")), std::stoull(entries.at("length")))
                       ? 1
                       : 0;
    }
  CHECK(found == 4);
}

TEST_CASE("a signature that is not there, and an output of an input's name, are refused") {
  initialised e{only([](graph&, symbol x) { return relu(x); })};
  CHECK(write_onnx(e.m, e.directory / "m.onnx", {.signature = "none"}).error().category == errc::invalid_argument);
  initialised same{{"same", {{"x", dtype::float32, {4}}}, [](graph&, const features& x) {
                      return std::map<std::string, symbol>{{"x", relu(x["x"])}};
                    }}};
  const auto none = write_onnx(same.m, same.directory / "m.onnx");
  REQUIRE_FALSE(none);
  CHECK(none.error().message == "'x' is the name of an input and of an output, which ONNX does not allow");
}

}  // namespace troupe
