// Layers: operations with variables of their own, under a scope of their own.
//
//   auto h = tr::nn::dense(x, {.units = 256, .activation = tr::relu});
//   h = tr::nn::residual(h, tr::nn::feed_forward(tr::nn::layer_norm(h), {.hidden = 1024}));
//
// Every layer takes options, and where they do not say otherwise x is floating, variables are of its dtype and extents that
// a variable has must be known numbers. A layer called twice has variables twice ("dense", "dense_1"). What does not fit is
// kept in the graph as its error, and the layer yields an invalid symbol. This header is all of them.
#pragma once

#include <troupe/nn/attention.hpp>
#include <troupe/nn/convolution_layers.hpp>
#include <troupe/nn/layers.hpp>
#include <troupe/nn/normalisation.hpp>
#include <troupe/nn/recurrent.hpp>
