// Conversion between events and the protobuf messages that are stored.
#pragma once

#include "storage/events/event_log.hpp"
#include "storage/proto/event.pb.h"

namespace troupe {

inline constexpr std::string_view event_file_version = "brain.Event:2";

/// Replaces `into`, reusing its memory. invalid_argument naming the part of the event that cannot be stored.
expected<void> to_message(const log_event& event, proto::Event& into);

/// Values of unknown kinds (a graph, a JPEG, a plugin's tensors) are left out. data_loss: a tag or a text that is not
/// UTF-8, a histogram with more or fewer counts than limits, an image that does not decode.
expected<log_event> from_message(const proto::Event& message);

}  // namespace troupe
