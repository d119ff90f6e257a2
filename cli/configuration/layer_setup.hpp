// Turns the list [[model.layers]] into the layers of a sequential_classifier.
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/sequential.hpp>

namespace troupe::cli {

/// invalid_argument: a layer without a type, without a required key, or with a key of another type. Without tables
/// there are no layers.
expected<std::vector<sequential_layer>> make_layers(const settings& given);

/// Where each layer was given, for errors: "cnn.toml:12: model.layers[2]".
std::vector<std::string> places_of_layers(const settings& given);

}  // namespace troupe::cli
