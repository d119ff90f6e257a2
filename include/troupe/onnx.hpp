// ONNX: writes an exported model as a file for other runtimes, such as onnxruntime.
// Not needed to begin with.
//
//   auto written = tr::write_onnx(*served, "fashion.onnx");
//
// Opset 17, IR version 8; the batch is a dimension called "batch". Results agree with Troupe's up to rounding, not bit
// for bit, since runtimes choose the order of sums. Words (text_prediction) are not in the file. Any thread may call.
#pragma once

#include <troupe/exported_model.hpp>

namespace troupe {

struct onnx_options {
  std::string signature = "serving_default";
  /// If the weights have more bytes than this in total, they are written to a second file, "<path>.data": a protobuf
  /// message is smaller than 2 GiB.
  int64_t inside_bytes_max = (int64_t{1} << 31) - (int64_t{1} << 24);
};

/// Writes the file of weights, if any, then the model. A regular file, or the target of a link, is replaced once
/// everything is written; a device or a pipe is written directly and cannot have a second file (invalid_argument).
/// unimplemented, naming a node: an operation that ONNX does not have, or rows whose number no input gives;
/// invalid_argument: no such signature, or an output with an input's name. Errors of files.
TROUPE_API expected<void> write_onnx(const exported_model& m, const std::string& path,
                                     const onnx_options& options = {});

}  // namespace troupe
