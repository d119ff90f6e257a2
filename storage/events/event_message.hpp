// Converts between events and the protobuf messages in which they are stored.
#pragma once

#include "storage/events/event_log.hpp"
#include "storage/proto/event.pb.h"

#include <map>

namespace troupe {

inline constexpr std::string_view event_file_version = "brain.Event:2";

/// Replaces `into`, reusing its memory. Error: invalid_argument naming the part of the event that cannot be stored.
expected<void> to_message(const log_event& event, proto::Event& into);

/// Maps each tag of a file to its TensorBoard plugin, as far as the file has named one; empty: none.
using plugins_of_tags = std::map<std::string, std::string>;

/// Converts each value of the message to one value of the event, or to one for each image. Error: data_loss for a tag
/// or a text that is not UTF-8, a histogram whose counts and limits differ in number, an image that does not decode, a
/// tensor that does not fit its shape, or an invalid graph or invalid hyperparameters.
expected<log_event> from_message(const proto::Event& message, plugins_of_tags& plugins);

}  // namespace troupe
