// Values that TensorFlow 2's and torch's writers keep as tensors: numbers of any type, histograms, images and texts.
#pragma once

#include "storage/proto/event.pb.h"

#include <troupe/event_value.hpp>
#include <troupe/summary.hpp>

namespace troupe {

/// What the values of an event are, each list in their order.
struct read_values {
  std::vector<summary_value> summaries = {};
  std::vector<event_value> others = {};
};

/// Appends the values that a tensor is: one, or as many as it has images. `plugin` is TensorBoard's, which decides between
/// the kinds where the type does not; empty: none. What no kind is for becomes opaque and says what it is: numbers of a
/// type that `dtype` has not, tensors of too many axes, strings that are no text. data_loss naming the tag: a shape that
/// cannot be, other numbers of elements than the shape has (but for the last one, which may stand for up to 2^20 equal ones
/// behind it), an image that does not decode, a text of the plugin "text" that is not UTF-8.
expected<void> read_tensor(const std::string& tag, const std::string& plugin, const proto::TensorProto& from, read_values& into);

/// As TensorFlow encodes them: the elements as they lie in memory.
void write_tensor(const tensor& numbers, proto::TensorProto& into);

/// An encoded image: a PNG as a summary, any other opaque with its encoding. `pixels` is what the file says of its size.
expected<void> read_image(const std::string& tag, const std::string& plugin, const std::string& encoded, const std::string& pixels, read_values& into);

/// What cannot be shown as more than the words that say what it is.
event_value opaque(const std::string& tag, const std::string& plugin, std::string what);

}  // namespace troupe
