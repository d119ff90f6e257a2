// Convolutions and pooling in ONNX, which has the channels before height and width.
#include "exports/onnx_windows.hpp"

#include "exports/onnx_attributes.hpp"

#include <algorithm>

namespace troupe {

using namespace onnx_attributes;

namespace {

struct placed {
  list size, strides, dilation, before, after;

  /// The padding after an axis is the part of its last window that lies beyond the end. It is 0 if the last window ends
  /// before the end of the axis.
  placed(onnx_graph& g, const list& window, const list& spread, const symbol_shape& image, const symbol_shape& windows)
    : size(window), strides(ints(g, "strides")), dilation(spread), before(ints(g, "padding")) {
    for (size_t a = 0; a < 2; ++a) {
      const int64_t reach = (size[a] - 1) * dilation[a] + 1;
      after.push_back(
          std::max<int64_t>(0, (known(windows[a + 1]) - 1) * strides[a] + reach - known(image[a + 1]) - before[a]));
    }
  }
  list pads() const { return {before[0], before[1], after[0], after[1]}; }
};

onnx_value channels_first(onnx_graph& g, const onnx_value& x) { return g.transposed(x, {0, 3, 1, 2}); }
onnx_value channels_last(onnx_graph& g, const onnx_value& x) { return g.transposed(x, {0, 2, 3, 1}); }
/// [height, width, in, out] becomes [out, in, height, width].
onnx_value kernel_first(onnx_graph& g, const onnx_value& k) { return g.transposed(k, {3, 2, 0, 1}); }

}  // namespace

onnx_value onnx_conv2d(onnx_graph& g) {
  const placed w{g, ints(g, "size"), ints(g, "dilation"), g.input(0).dims, g.node().dims};
  const auto x = channels_first(g, g.in(0)), k = kernel_first(g, g.in(1));
  const auto y = g.emit("Conv", {x, k});
  g.set("kernel_shape", w.size);
  g.set("strides", w.strides);
  g.set("dilations", w.dilation);
  g.set("pads", w.pads());
  g.set("group", integer(g, "groups"));
  return channels_last(g, y);
}

onnx_value onnx_conv2d_image_gradient(onnx_graph& g) {
  const auto size = ints(g, "size"), strides = ints(g, "strides"), dilation = ints(g, "dilation"),
             before = ints(g, "padding");
  list pads(4), more;
  for (size_t a = 0; a < 2; ++a) {
    const int64_t whole = (known(g.input(0).dims[a + 1]) - 1) * strides[a] + (size[a] - 1) * dilation[a] + 1;
    const int64_t over = whole - before[a] - known(g.node().dims[a + 1]);
    pads[a] = before[a];
    pads[a + 2] = std::max<int64_t>(0, over);
    more.push_back(std::max<int64_t>(0, -over));
  }
  const auto x = channels_first(g, g.in(0)), k = kernel_first(g, g.in(1));
  const auto y = g.emit("ConvTranspose", {x, k});
  g.set("kernel_shape", size);
  g.set("strides", strides);
  g.set("dilations", dilation);
  g.set("pads", pads);
  g.set("output_padding", more);
  g.set("group", integer(g, "groups"));
  return channels_last(g, y);
}

onnx_value onnx_pool(onnx_graph& g, const char* op) {
  const placed w{g, ints(g, "size"), {1, 1}, g.input(0).dims, g.node().dims};
  const auto y = g.emit(op, {channels_first(g, g.in(0))});
  g.set("kernel_shape", w.size);
  g.set("strides", w.strides);
  g.set("pads", w.pads());
  return channels_last(g, y);
}

}  // namespace troupe
