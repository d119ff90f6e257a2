// The ONNX equivalents of convolutions and pooling.
#pragma once

#include "exports/onnx_graph.hpp"

namespace troupe {

onnx_value onnx_conv2d(onnx_graph& g);
/// conv2d_transpose: the image from which windows would give the operand.
onnx_value onnx_conv2d_image_gradient(onnx_graph& g);
/// `op`: "MaxPool" or "AveragePool".
onnx_value onnx_pool(onnx_graph& g, const char* op);

}  // namespace troupe
