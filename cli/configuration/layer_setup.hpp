// Turns the list [[model.layers]] into the layers of a sequential_classifier.
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/sequential.hpp>

namespace troupe::cli {

/// invalid_argument: a layer lacks its type or a required key, or has a key that belongs to another type of layer.
/// Returns no layers if there are no tables.
expected<std::vector<sequential_layer>> make_layers(const settings& given);

/// Where each layer was given, for errors: "cnn.toml:12: model.layers[2]".
std::vector<std::string> places_of_layers(const settings& given);

}  // namespace troupe::cli
