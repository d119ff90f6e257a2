#include "models/model_spec.hpp"

#include "compute/graph/graph.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

tl::unexpected<error> refuse(const std::string& what) { return fail(errc::invalid_argument, what); }

std::string text(const symbol_shape& dims) {
  return "["
         + joined(dims, ", ",
                  [](const extent& e) { return e.known() ? std::to_string(e.coefficient) : std::string{"unknown"}; })
         + "]";
}

bool is_one_element(symbol s) {
  return std::all_of(s.dims().begin(), s.dims().end(), [](const extent& e) { return e == extent{1}; });
}

bool is_floating(symbol s) { return s.type() == dtype::float32 || s.type() == dtype::float64; }

expected<void> check_symbol(const std::string& name, symbol s, const graph& g) {
  if (!s.valid())
    return refuse(name + " is not a symbol of any graph");
  if (s.owner() != &g)
    return refuse(name + " belongs to another graph");
  return {};
}

expected<void> check_loss(symbol loss, const graph& g, mode m) {
  if (!loss.valid())
    return refuse("a model needs a loss to " + std::string{to_string(m)});
  if (auto ok = check_symbol("the loss", loss, g); !ok)
    return ok;
  if (!is_one_element(loss))
    return refuse("the loss must be a scalar or one element, not " + text(loss.dims()));
  if (!is_floating(loss))
    return refuse("the loss must be floating, not " + std::string{to_string(loss.type())});
  return {};
}

expected<void> check_metrics(const model_spec& spec, const graph& g) {
  for (const auto& [name, one] : spec.metrics) {
    if (name == "loss" || name == "global_step")
      return refuse("'" + name + "' is a reserved name and cannot be that of a metric");
    if (one.sums.empty() || !one.result)
      return refuse("metric '" + name + "' has no " + (one.sums.empty() ? "sums" : "function of its sums")
                    + ": make it by a function of troupe::metrics, or give both");
    for (size_t part = 0; part < one.sums.size(); ++part) {
      const symbol value = one.sums[part];
      const std::string what = "sum " + std::to_string(part) + " of metric '" + name + "'";
      if (auto ok = check_symbol(what, value, g); !ok)
        return ok;
      const auto elements = known_elements(value.dims());
      if (!elements || *elements > metric_elements_max)
        return refuse(what + " must have a known shape of at most " + std::to_string(metric_elements_max)
                      + " elements, not " + text(value.dims()));
      if (!is_floating(value))
        return refuse(what + " must be floating, not " + std::string{to_string(value.type())});
    }
  }
  return {};
}

expected<void> check_predictions(const model_spec& spec, const graph& g) {
  if (spec.predictions.empty())
    return refuse("a model needs predictions to predict");
  for (const auto& [name, value] : spec.predictions)
    if (auto ok = check_symbol("prediction '" + name + "'", value, g); !ok)
      return ok;
  return {};
}

expected<void> check_export_outputs(const model_spec& spec, const graph& g) {
  const std::string standard = "serving_default";
  for (const auto& [name, outputs] : spec.export_outputs) {
    if (name.empty())
      return refuse("an export output needs a name");
    for (const auto& [value, s] : outputs)
      if (auto ok = check_symbol("'" + value + "' of the export output '" + name + "'", s, g); !ok)
        return ok;
  }
  if (spec.export_outputs.size() > 1 && !spec.export_outputs.contains(standard))
    return refuse("of several export outputs one must be '" + standard + "', and there are "
                  + joined(spec.export_outputs, ", ", [](const auto& output) { return "'" + output.first + "'"; }));
  return {};
}

/// The source line at which the user made the spec; else that of the model. A spec made without braces only has a line
/// of the header.
std::source_location place_of(const model_spec& spec, const model& m) {
  const auto is_users = [](const std::source_location& at) {
    return !std::string_view{at.file_name()}.ends_with("troupe/model.hpp");
  };
  return is_users(spec.at) ? spec.at : m.at;
}

}  // namespace

expected<void> check(const model_spec& spec, const graph& g, mode m) {
  if (auto ok = g.status(); !ok)
    return ok;
  if (spec.mode.value_or(m) != m)
    return refuse("the mode of the model's spec is " + std::string{to_string(*spec.mode)} + ", but it was built to "
                  + std::string{to_string(m)});
  if (m == mode::predict)
    return check_predictions(spec, g).and_then([&] { return check_export_outputs(spec, g); });
  if (auto ok = check_loss(spec.loss, g, m); !ok)
    return ok;
  if (auto ok = check_metrics(spec, g); !ok || m == mode::evaluate)
    return ok;
  if (!spec.optimizer)
    return refuse("a model needs an optimizer to train");
  return validate(*spec.optimizer);
}

expected<std::shared_ptr<const model>> checked(const model& m) {
  if (!m.build)
    return fail(errc::invalid_argument, "the model " + m.name + " has no function to build it");
  const auto build = [m](graph& g, const features& x, const labels& y, mode wanted) {
    auto spec = m.build(g, x, y, wanted);
    if (auto valid = check(spec, g, wanted); !valid)
      g.invalid(valid.error(), place_of(spec, m));
    return spec;
  };
  return std::make_shared<const model>(model{m.name, build, m.texts, m.host_calls, m.at});
}

}  // namespace troupe
