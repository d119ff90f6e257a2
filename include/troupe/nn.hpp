// Layers: functions that add operations and variables to a graph, under a scope.
// Read it to begin with.
//
//   auto h = tr::nn::dense(x, {.units = 256, .activation = tr::relu});
//   h = tr::nn::residual(h, tr::nn::feed_forward(tr::nn::layer_norm(h), {.hidden = 1024}));
//
// This header includes all layers. Unless a layer says otherwise, x is floating, variables have its dtype, and their
// extents must be known numbers. `name` is the scope of the variables; a second call with the same name makes new ones
// ("dense", "dense_1"). A mismatch is an error of the graph and yields an invalid symbol. Sizes of 0 must be set.
#pragma once

#include <troupe/nn/attention.hpp>
#include <troupe/nn/convolution_layers.hpp>
#include <troupe/nn/layers.hpp>
#include <troupe/nn/normalisation.hpp>
#include <troupe/nn/recurrent.hpp>
