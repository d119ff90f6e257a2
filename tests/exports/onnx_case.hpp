// Exports as ONNX files, which are read back.
#pragma once

#include "storage/proto/onnx.pb.h"
#include "tests/exports/exported_case.hpp"
#include "tests/support/initialised_export.hpp"
#include "tests/support/predicting_models.hpp"

#include <troupe/onnx.hpp>

namespace troupe::test {

/// An export of a model whose variables have their initial values.
struct initialised {
  temporary_directory directory;
  exported_model m;

  explicit initialised(const predicting_model& one) : m(make(one, directory / "m")) {}
  static exported_model make(const predicting_model& one, const std::string& model_dir) {
    const auto path = export_initialised(one.model(), one.features, model_dir);
    REQUIRE_MESSAGE(path, why(path));
    return opened(*path);
  }
  proto::OnnxModel written(const onnx_options& options = {}) {
    const auto done = write_onnx(m, directory / "m.onnx", options);
    REQUIRE_MESSAGE(done, why(done));
    proto::OnnxModel model;
    REQUIRE(model.ParseFromString(*read_file(*posix_file_system(), directory / "m.onnx")));
    return model;
  }
};

inline predicting_model only(std::function<symbol(graph&, symbol)> f) {
  return {"only", {{"x", dtype::float32, {4}}}, [f](graph& g, const features& x) {
            return std::map<std::string, symbol>{{"y", f(g, x["x"])}};
          }};
}

}  // namespace troupe::test
