// Reads and writes values that TensorFlow 2's and PyTorch's writers store as tensors: numbers of any type, histograms,
// images and texts.
#pragma once

#include "storage/proto/event.pb.h"

#include <troupe/event_value.hpp>
#include <troupe/summary.hpp>

namespace troupe {

/// The values of one event. Each list keeps their order.
struct read_values {
  std::vector<summary_value> summaries = {};
  std::vector<event_value> others = {};
};

/// Appends the value that a tensor holds, or one value for each image. `plugin` is the tag's TensorBoard plugin, which
/// decides the kind if the type does not; empty: none. A tensor that fits no kind becomes an opaque value with a
/// description: numbers of an unknown type, too many axes, strings that are not text. Error: data_loss naming the tag:
/// an invalid shape, an image that does not decode, a text of the plugin "text" that is not UTF-8, or a number of
/// elements that does not fit the shape. Up to 2^20 elements may be missing at the end; the last one that is there
/// stands for them.
expected<void> read_tensor(const std::string& tag, const std::string& plugin, const proto::TensorProto& from,
                           read_values& into);

/// Writes numbers as TensorFlow does: the elements as they are in memory.
void write_tensor(const tensor& numbers, proto::TensorProto& into);

/// Appends an encoded image: a PNG becomes a summary; any other becomes an opaque value with the name of its encoding.
/// `pixels` is its size according to the file.
expected<void> read_image(const std::string& tag, const std::string& plugin, const std::string& encoded,
                          const std::string& pixels, read_values& into);

/// A value of which only a description can be shown.
event_value opaque(const std::string& tag, const std::string& plugin, std::string what);

}  // namespace troupe
