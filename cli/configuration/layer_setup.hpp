// Turns a list of tables such as [[model.layers]] into the layers of a sequential model.
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/sequential.hpp>

namespace troupe::cli {

/// invalid_argument: a layer lacks its type or a required key, or has a key that belongs to another type of layer.
/// Returns no layers if there are no tables.
expected<std::vector<sequential_layer>> make_layers(const settings& given, std::string_view list = "model.layers");

/// Where each layer was given, for errors: "cnn.toml:12: model.layers[2]".
std::vector<std::string> places_of_layers(const settings& given, std::string_view list = "model.layers");

}  // namespace troupe::cli
