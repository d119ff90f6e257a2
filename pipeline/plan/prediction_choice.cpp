#include "pipeline/plan/prediction_choice.hpp"

#include "compute/graph/graph.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <set>

namespace troupe {

namespace {

tl::unexpected<error> refuse(std::string what) { return fail(errc::invalid_argument, std::move(what)); }

/// The predictions that the graph must compute for the chosen keys.
expected<std::set<std::string>> needed(const model& source, const model_spec& spec,
                                       const std::vector<std::string>& keys) {
  std::set<std::string> available, unknown, made;
  for (const auto& [name, value] : spec.predictions)
    available.insert(name);
  for (const auto& [name, text] : source.texts) {
    if (available.contains(name))
      return refuse("the text '" + name + "' has the name of a prediction");
    const auto of = spec.predictions.find(text.of);
    if (of == spec.predictions.end())
      return refuse("the text '" + name + "' is of '" + text.of + "', which is no prediction; there are "
                    + joined(available, ", ", quoted));
    if (!is_integer(of->second.type()))
      return refuse("the text '" + name + "' is of '" + text.of + "', which is "
                    + std::string{to_string(of->second.type())} + " and not an integer");
  }
  if (keys.empty())
    return available;
  for (const auto& key : keys) {
    const auto text = source.texts.find(key);
    if (text != source.texts.end())
      made.insert(text->second.of);
    else if (available.contains(key))
      made.insert(key);
    else
      unknown.insert(key);
  }
  for (const auto& [name, text] : source.texts)
    available.insert(name);
  if (!unknown.empty())
    return refuse("the model predicts no " + joined(unknown, ", ", quoted) + "; there are "
                  + joined(available, ", ", quoted));
  return made;
}

expected<void> check_rows(const graph& g, const std::string& name, const symbol_shape& dims, extent batch) {
  if (!dims.empty() && dims.front() == batch)
    return {};
  return refuse("prediction '" + name + "' has the shape " + to_string(g, dims) + ", whose first extent is not the "
                                                                                  "batch: it has no row for each "
                "example; ask for whole batches (single_examples = false)");
}

expected<void> check_bytes(const graph& g, const model_spec& spec, int64_t rows, int64_t bytes_below) {
  double bytes = 0;  // A double cannot overflow here; rounding matters only far beyond the limit.
  std::string shapes;
  for (const auto& [name, value] : spec.predictions) {
    double elements = 1;
    for (const extent& e : value.dims())
      elements *= static_cast<double>(e.coefficient) * static_cast<double>(e.known() ? 1 : rows);
    bytes += elements * static_cast<double>(size_of(value.type()));
    shapes += (shapes.empty() ? "'" : ", '") + name + "' " + std::string{to_string(value.type())} + " "
              + to_string(g, value.dims());
  }
  if (bytes < static_cast<double>(bytes_below))
    return {};
  return refuse("the predictions of a batch of " + std::to_string(rows) + " rows take "
                + std::to_string(static_cast<int64_t>(std::min(bytes, 9e18))) + " bytes, and must take less than "
                + std::to_string(bytes_below) + ": " + shapes + "; choose fewer keys or a smaller batch");
}

expected<void> narrow(const model& source, const graph& g, extent batch, model_spec& spec,
                      const prediction_choice& choice, int64_t rows) {
  const auto made = needed(source, spec, choice.keys);
  if (!made)
    return fail(made.error());
  std::erase_if(spec.predictions, [&](const auto& p) { return !made->contains(p.first); });
  if (choice.single_examples)
    for (const auto& [name, value] : spec.predictions)
      if (auto ok = check_rows(g, name, value.dims(), batch); !ok)
        return ok;
  return check_bytes(g, spec, rows, choice.bytes_below);
}

}  // namespace

model choose_predictions(std::shared_ptr<const model> source, prediction_choice choice, int64_t rows,
                         std::shared_ptr<std::optional<error>> refused) {
  model chosen{source->name, {}, source->texts, source->host_calls};
  chosen.build = [source, choice = std::move(choice), rows, refused](graph& g, const features& x, const labels& y,
                                                                     mode m) {
    auto spec = source->build(g, x, y, m);
    if (!g.status())
      return spec;
    if (auto ok = narrow(*source, g, g.unknown("batch"), spec, choice, rows); !ok) {
      g.invalid(ok.error());
      *refused = ok.error();
    }
    return spec;
  };
  return chosen;
}

}  // namespace troupe
