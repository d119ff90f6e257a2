// Makes an export: the predict graph as data, with the variables of a checkpoint.
#include "compute/engine/step_engine.hpp"
#include "compute/operations/stored_graph.hpp"
#include "compute/optimizers/update.hpp"
#include "exports/signature_graphs.hpp"
#include "exports/surroundings.hpp"
#include "input/streams/open_input.hpp"
#include "models/model_spec.hpp"
#include "storage/checkpoints/best_checkpoint.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/encodings/utf8.hpp"
#include "words/settled_config.hpp"
#include "words/text.hpp"

#include <troupe/estimator.hpp>

#include <algorithm>

namespace troupe {

namespace {

tl::unexpected<error> refuse_export(std::string what) { return fail(errc::invalid_argument, std::move(what)); }

/// The features that the export takes, with the labels of the input if it has any: a model function may look at labels
/// in any mode.
expected<element_spec> element_of(const export_options& options) {
  element_spec element{options.features, {}};
  if (element.features.empty()) {
    const auto opened = open_input(options.input, {});
    if (!opened)
      return fail({errc::invalid_argument,
                   "an export needs `input` or `features`, which say what the model is fed: " + opened.error().message,
                   opened.error().notes});
    element = (*opened)->spec();
  }
  std::sort(element.features.begin(), element.features.end(),
            [](const component& a, const component& b) { return a.name < b.name; });
  return element;
}

expected<void> check_inputs(const stored_graph& graph, const element_spec& element) {
  for (const auto& n : graph.nodes)
    for (const auto& label : element.labels)
      if (n.operation == "placeholder" && n.name == label.name)
        return refuse_export("the predictions of the model depend on the label '" + label.name
                             + "', which an exported model is not fed");
  return {};
}

/// Restores the chosen checkpoint under a lease.
expected<restored_checkpoint> load(const export_surroundings& in, const settled_config& config,
                                   const export_options& options) {
  const auto& which = options.checkpoint;
  if (auto valid = validate(which); !valid)
    return refuse_export(valid.error().message);
  const bool by_path = which.what == checkpoint_ref::kind::path;
  if (!by_path && !config.model_dir)
    return refuse_export("without a model_dir there is no checkpoint to export; a path names one elsewhere");
  const std::string directory = by_path ? parent_of(which.path) : *config.model_dir;
  const auto none = [&](const error& e) {
    return e.category == errc::not_found
               ? fail(errc::not_found, "there is no checkpoint to export in " + directory + ": " + e.message)
               : fail(e);
  };
  const auto store = checkpoint_store::open(in.files, directory, {.read_only = true});
  if (!store)
    return none(store.error());
  const auto restore = [&]() -> expected<restored_checkpoint> {
    switch (which.what) {
      case checkpoint_ref::kind::newest: break;
      case checkpoint_ref::kind::best:
        return best_kept(**store, directory).and_then([&](checkpoint_id id) { return (*store)->restore(id); });
      case checkpoint_ref::kind::step: return (*store)->restore_step(which.step);
      case checkpoint_ref::kind::path: return (*store)->restore(*id_of_checkpoint(which.path));
    }
    const auto best = best_in_use(**store);
    return best ? (*store)->restore(*best) : (*store)->restore_newest();
  };
  auto found = restore();
  if (!found)
    return none(found.error());
  if (options.on_warning)
    for (const auto& text : found->warnings)
      options.on_warning(text);
  return found;
}

/// The outputs of each signature, by name.
expected<std::map<std::string, std::map<std::string, symbol>>> outputs_of(const model_spec& spec) {
  const std::string standard{standard_signature};
  auto all = spec.export_outputs;
  if (all.empty())
    all[standard];
  else if (all.size() == 1)
    all.insert({standard, all.begin()->second});
  else if (!all.contains(standard))
    return refuse_export("of several export outputs one must be '" + standard + "', and there are "
                         + joined(all, ", ", [](const auto& s) { return quoted(s.first); }));
  for (auto& [name, outputs] : all)
    if (outputs.empty())
      outputs = spec.predictions;
  return all;
}

/// The exported variables, taken from the checkpoint's tensors. The error lists all that are missing or do not fit.
expected<std::map<std::string, tensor>> variables_of(const stored_graph& graph, const restored_checkpoint& from,
                                                     bool averages) {
  std::map<std::string, const tensor*> stored;
  for (const auto& t : from.content.tensors)
    stored[t.name] = &t.value;
  std::map<std::string, tensor> values;
  std::vector<std::string> wrong;
  for (const auto& n : graph.nodes) {
    if (n.operation != "variable")
      continue;
    auto found = averages ? stored.find(n.name + "/" + std::string{moving_average_slot}) : stored.end();
    if (found == stored.end())
      found = stored.find(n.name);
    std::vector<int64_t> extents;
    for (const extent& e : n.dims)
      extents.push_back(e.coefficient);
    const shape dims{std::span<const int64_t>{extents}};
    if (found == stored.end())
      wrong.push_back(n.name + " is missing");
    else if (found->second->type() != n.type || found->second->dims() != dims)
      wrong.push_back(n.name + " is " + type_text(found->second->type(), found->second->dims()) + " there and "
                      + type_text(n.type, dims) + " in the model");
    else
      values.emplace(n.name, *found->second);
  }
  if (!wrong.empty())
    return refuse_export(from.prefix + " is a checkpoint of another model: " + joined(wrong, "; "));
  return values;
}

stored_preparation preparation_of(const model& source, const stored_signature& standard,
                                  const export_options& options) {
  stored_preparation p{.labels = options.label_words, .predictions = {}};
  for (const auto& [name, text] : source.texts)
    if (standard.outputs.contains(text.of))
      p.predictions[name] = {text.of, text.words};
  return p;
}

expected<export_content> content_of(const export_surroundings& in, const settled_config& config, const estimator& e,
                                    const export_options& options) {
  const auto source = checked(e.model);
  if (!source)
    return fail(source.error());
  const auto element = element_of(options);
  if (!element)
    return fail(element.error());
  const auto built = build_graph(**source, *element, mode::predict);
  if (!built)
    return fail(built.error());
  const auto layout = layout_of(**built);
  if (!layout)
    return fail(layout.error());
  const auto outputs = outputs_of((*built)->spec);
  if (!outputs)
    return fail(outputs.error());
  std::vector<int32_t> roots;
  for (const auto& [signature, values] : *outputs)
    for (const auto& [name, value] : values)
      roots.push_back(value.node());
  auto slice = slice_of((*built)->g, roots);
  if (!slice)
    return fail(slice.error());
  if (auto fed = check_inputs(slice->nodes, *element); !fed)
    return fail(fed.error());
  const auto checkpoint = load(in, config, options);
  if (!checkpoint)
    return fail(checkpoint.error());
  auto tensors = variables_of(slice->nodes, *checkpoint, layout->reads_averages());
  if (!tensors)
    return fail(tensors.error());
  tensors->merge(slice->constants);

  // The directory's name may be in any encoding, but JSON is UTF-8.
  export_content content{
      .origin = {(*source)->name, checkpoint->content.id.step, as_utf8(checkpoint->prefix), options.evaluation},
      .graph = std::move(slice->nodes),
      .tensors = std::move(*tensors),
      .signatures = {},
      .preparation = {}};
  size_t root = 0;
  for (const auto& [signature, values] : *outputs) {
    std::map<std::string, int32_t> nodes;
    for (const auto& [name, value] : values)
      nodes[name] = slice->roots[root++];
    content.signatures[signature] = signature_over(content.graph, nodes);
  }
  content.preparation = preparation_of(**source, content.signatures.at(std::string{standard_signature}), options);
  // Reads the graph back before anything is written: otherwise only whoever serves the model would find that it cannot
  // be read.
  graph again;
  if (const auto restored = restore_nodes(content.graph, again, {.tensors = &content.tensors}); !restored)
    return fail(
        {errc::unimplemented, "the model '" + (*source)->name + "' cannot be exported: " + restored.error().message});
  return content;
}

}  // namespace

expected<void> check_words(const estimator& e, const export_options& options) {
  const auto check = [](const std::string& name, const std::vector<std::string>& words) -> expected<void> {
    const auto wrong = std::find_if(words.begin(), words.end(), [](const std::string& w) { return !is_utf8(w); });
    return wrong == words.end() ? expected<void>{}
                                : refuse_export("the word '" + as_utf8(*wrong) + "' of '" + name
                                                + "' is not UTF-8, and an export needs its words to be");
  };
  for (const auto& [name, text] : e.model.texts)
    if (auto right = check(name, text.words); !right)
      return right;
  for (const auto& [name, words] : options.label_words)
    if (auto right = check(name, words); !right)
      return right;
  return {};
}

expected<std::string> export_model(const export_surroundings& in, const estimator& e, const export_options& options) {
  const auto config = resolve_config(e.config);
  if (!config)
    return fail(config.error());
  if (options.directory.empty() && !config->model_dir)
    return refuse_export("an export needs a `directory` where the estimator has no model_dir");
  if (auto right = check_words(e, options); !right)
    return fail(right.error());
  const auto content = content_of(in, *config, e, options);
  if (!content)
    return fail(content.error());
  const std::string base = options.directory.empty() ? join_path(*config->model_dir, "export/latest")
                                                     : options.directory;
  return write_export(*in.files, base, *content, options.assets_extra, in.clock);
}

expected<std::string> export_model(const estimator& e, const export_options& options) {
  return export_model(export_surroundings{}, e, options);
}

}  // namespace troupe
