#include "ensemble/graphs/model_parts.hpp"

#include "compute/graph/graph.hpp"

namespace troupe {

named_symbols checked_data(const search_options& o, graph& g, named_symbols data) {
  if (!o.debug)
    return data;
  auto checked = data.all();
  for (auto& [name, value] : checked)
    if (value.valid() && is_floating(value.type()))
      value = check_numerics(value, "'" + name + "' of the data");
  return {&g, std::move(checked)};
}

model_spec headed(const search_options& o, graph& g, mode m, symbol logits, const features& x, const labels& y) {
  return o.head.spec(g, {.mode = m, .logits = logits, .labels = y, .features = x});
}

symbol with_regularization(symbol loss, symbol regularization) {
  if (!regularization.valid() || !loss.valid())
    return loss;
  const symbol shaped = regularization.dims() == loss.dims() ? regularization : reshape(regularization, loss.dims());
  return loss + (shaped.type() == loss.type() ? shaped : cast(shaped, loss.type()));
}

}  // namespace troupe
