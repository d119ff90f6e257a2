// ONNX: an exported model as a file for other runtimes, such as onnxruntime.
// Not needed to begin with.
//
//   auto written = tr::write_onnx(*served, "fashion.onnx");
//
// Opset 17, IR version 8; the batch is a dimension "batch". Values agree with our own to rounding, not bit for bit, since a runtime orders its
// sums as it likes. Words (text_prediction) are not in the file. Any thread may call.
#pragma once

#include <troupe/exported_model.hpp>

namespace troupe {

struct onnx_options {
  std::string signature = "serving_default";
  /// Weights of more bytes than this in all go to a file of their own beside the model, "<path>.data": protobuf has no message of 2 GiB.
  int64_t inside_bytes_max = (int64_t{1} << 31) - (int64_t{1} << 24);
};

/// Writes the file, after that of the weights where there is one: a regular file, or the target of a link, is replaced once all is written; a device
/// or a pipe is written as it is, and cannot have weights beside it (invalid_argument). unimplemented, naming a node: an operation without a twin in
/// ONNX, or rows without an input that says how many; invalid_argument: no such signature, or an output of an input's name. Errors of files.
TROUPE_API expected<void> write_onnx(const exported_model& m, const std::string& path, const onnx_options& options = {});

}  // namespace troupe
