// Conversion between events and the protobuf messages that are stored.
#pragma once

#include "storage/events/event_log.hpp"
#include "storage/proto/event.pb.h"

#include <map>

namespace troupe {

inline constexpr std::string_view event_file_version = "brain.Event:2";

/// Replaces `into`, reusing its memory. invalid_argument naming the part of the event that cannot be stored.
expected<void> to_message(const log_event& event, proto::Event& into);

/// The plugin of TensorBoard that each tag of a file has named so far; empty: none.
using plugins_of_tags = std::map<std::string, std::string>;

/// Every value of the message becomes one of the event, or as many as it has images. data_loss: a tag or a text that is not
/// UTF-8, a histogram with more or fewer counts than limits, an image that does not decode, a tensor that does not fit its
/// shape, a graph or hyperparameters that are none.
expected<log_event> from_message(const proto::Event& message, plugins_of_tags& plugins);

}  // namespace troupe
