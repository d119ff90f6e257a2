// What the models of a search have in common.
#pragma once

#include <troupe/search/options.hpp>

namespace troupe {

/// With `debug`, floating symbols are checked to be finite in every step; all others stay as they are.
named_symbols checked_data(const search_options& o, graph& g, named_symbols data);
/// The head's spec of these logits.
model_spec headed(const search_options& o, graph& g, mode m, symbol logits, const features& x, const labels& y);
/// adanet_loss: the loss plus the regularization, which may be invalid.
symbol with_regularization(symbol loss, symbol regularization);

}  // namespace troupe
