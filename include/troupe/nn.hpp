// Layers: operations with variables of their own, under a scope of their own.
// Read it to begin with.
//
//   auto h = tr::nn::dense(x, {.units = 256, .activation = tr::relu});
//   h = tr::nn::residual(h, tr::nn::feed_forward(tr::nn::layer_norm(h), {.hidden = 1024}));
//
// Every layer takes options. Unless they say otherwise, x is floating, variables have its dtype, and every extent of a
// variable must be a known number. Calling a layer twice makes its variables twice ("dense", "dense_1"). A mismatch is
// kept in the graph as its error, and the layer yields an invalid symbol. This header includes all layers.
#pragma once

#include <troupe/nn/attention.hpp>
#include <troupe/nn/convolution_layers.hpp>
#include <troupe/nn/layers.hpp>
#include <troupe/nn/normalisation.hpp>
#include <troupe/nn/recurrent.hpp>
