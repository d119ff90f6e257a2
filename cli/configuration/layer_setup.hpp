// The list [[model.layers]] becomes the layers of a sequential_classifier.
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/sequential.hpp>

namespace troupe::cli {

/// invalid_argument: a layer without a type, a key that it needs and has not, or one that belongs to another type. None are given: none.
expected<std::vector<sequential_layer>> make_layers(const settings& given);

/// For each of them, what errors call it: "cnn.toml:12: model.layers[2]".
std::vector<std::string> places_of_layers(const settings& given);

/// A choice of model.activation; null for none.
activation activation_named(std::string_view name);

}  // namespace troupe::cli
