#include "compute/graph/operation.hpp"
#include "compute/operations/stored_graph.hpp"
#include "exports/served_model.hpp"
#include "exports/signature_graphs.hpp"
#include "storage/exports/export_directory.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// The values with the shape of one row. The shape is empty where the first axis is not the batch: such a value cannot
/// be called by rows.
std::vector<component> components_of(const std::map<std::string, stored_signature::value>& values,
                                     const std::vector<std::string>& unknowns) {
  std::vector<component> all;
  for (const auto& [name, v] : values)
    all.push_back({name, v.type, row_shape(v.dims, unknowns).value_or(shape{})});
  return all;
}

/// The symbols of a signature's outputs in `g`, fed by the features `x`.
expected<std::map<std::string, symbol>> outputs_in(const exported_model::impl& m, const std::string& signature,
                                                   graph& g, const features& x) {
  const auto found = m.find(signature);
  if (!found)
    return fail(found.error());
  const auto symbols = restore_nodes((*found)->graph, g,
                                     {.input = [&](const stored_node& n) { return x[n.name]; }, .tensors = &m.tensors});
  if (!symbols)
    return fail(symbols.error());
  std::map<std::string, symbol> outputs;
  for (const auto& [name, node] : (*found)->outputs)
    outputs[name] = (*symbols)[static_cast<size_t>(node)];
  return outputs;
}

/// Finds the logits for a head among the predictions: the only code here that depends on the names that heads give
/// their predictions.
expected<symbol> logits_of(graph& g, const std::map<std::string, symbol>& predictions) {
  if (const auto logits = predictions.find("logits"); logits != predictions.end())
    return logits->second;
  if (const auto probabilities = predictions.find("probabilities"); probabilities != predictions.end()) {
    const auto& n = contents_of(g).nodes[static_cast<size_t>(probabilities->second.node())];
    if (n.op == &ops::softmax)
      return symbol_of(g, n.inputs[0]);
  }
  if (const auto values = predictions.find("predictions"); values != predictions.end())
    return values->second;
  return fail(errc::key_missing,
              "an exported model is evaluated by its prediction 'logits', 'probabilities' (a softmax) or "
              "'predictions', and it has "
                  + joined(predictions, ", ", [](const auto& p) { return quoted(p.first); }));
}

/// The model function of an exported model. `head` may be empty; the model then has no loss.
model_spec build(const std::shared_ptr<const exported_model::impl>& m, const std::string& signature,
                 const exported_head& head, graph& g, const features& x, const labels& y, mode what) {
  const auto refused = [&](error e) {
    g.invalid(std::move(e));
    return model_spec{};
  };
  if (what == mode::train || (what == mode::evaluate && !head))
    return refused({errc::invalid_argument,
                    what == mode::train
                        ? "the exported model '" + m->path + "' cannot be trained: it has no slots and no optimizer"
                        : "the exported model '" + m->path + "' has no loss; as_model(head) gives it one"});
  const auto outputs = outputs_in(*m, signature, g, x);
  if (!outputs)
    return refused(outputs.error());
  model_spec spec;
  spec.mode = what;
  if (what == mode::predict) {
    spec.predictions = *outputs;
    return spec;
  }
  const auto logits = logits_of(g, *outputs);
  if (!logits)
    return refused(logits.error());
  return head(g, {.mode = what, .logits = *logits, .labels = y, .features = x});
}

/// Builds the whole graph once, which checks it, and puts the variables into a store.
expected<void> hold_weights(exported_model::impl& m, export_content& content) {
  graph whole;
  if (const auto restored = restore_nodes(content.graph, whole, {.tensors = &content.tensors}); !restored)
    return fail(restored.error());
  auto layout = parameter_layout::of(whole, std::nullopt);
  if (!layout)
    return fail(layout.error());
  auto store = parameter_store::create(std::move(*layout), 1);
  if (!store)
    return fail(store.error());
  m.store = std::move(*store);
  m.store->initialise(0);
  m.tensors = std::move(content.tensors);
  const auto entries = m.store->layout().entries();
  for (size_t e = 0; e < entries.size(); ++e)
    m.tensors[entries[e].name] = m.store->view(0, static_cast<int32_t>(e));
  return {};
}

}  // namespace

expected<const exported_model::impl::served_signature*> exported_model::impl::find(const std::string& signature) const {
  if (const auto found = served.find(signature); found != served.end())
    return &found->second;
  return fail(errc::invalid_argument, path + " has no signature '" + signature + "', but "
                                          + joined(served, ", ", [](const auto& s) { return quoted(s.first); }));
}

expected<exported_model> open_export(file_system& fs, const std::string& directory) {
  auto content = read_export(fs, directory);
  if (!content)
    return fail(content.error());
  auto m = std::make_shared<exported_model::impl>();
  m->path = directory;
  const auto within = [&](std::string_view file, error e) {
    e.message = join_path(directory, file) + ": " + e.message;
    return fail(std::move(e));
  };
  // The graph is built first: signatures are then checked against a graph that is known to be sound.
  if (auto held = hold_weights(*m, *content); !held)
    return within(graph_file_name, held.error());
  if (auto right = check_signatures(*content); !right)
    return within(signature_file_name, right.error());
  for (const auto& [name, s] : content->signatures) {
    std::vector<int32_t> roots;
    for (const auto& [output, v] : s.outputs)
      roots.push_back(v.node);
    auto part = part_of(content->graph, roots);
    auto& served = m->served[name];
    served.graph = std::move(part.graph);
    for (const auto& [output, v] : s.outputs)
      served.outputs[output] = part.place[static_cast<size_t>(v.node)];
    m->signatures[name] = {components_of(s.inputs, content->graph.unknowns),
                           components_of(s.outputs, content->graph.unknowns)};
  }
  m->origin = std::move(content->origin);
  for (const auto& [name, words] : content->preparation.predictions)
    m->texts[name] = {words.of, words.words};
  m->label_words = std::move(content->preparation.labels);
  if (!content->has_manifest)
    m->remark =
        directory
        + " has format version 1, without a manifest: changes of its files may go unnoticed; export the model again";
  return exported_model{std::move(m)};
}

exported_model::exported_model(std::shared_ptr<const impl> i) : impl_(std::move(i)) {}

expected<exported_model> exported_model::open(const std::string& directory) {
  return open_export(*posix_file_system(), directory);
}

const std::string& exported_model::path() const noexcept { return impl_->path; }
const std::string& exported_model::name() const noexcept { return impl_->origin.model; }
int64_t exported_model::global_step() const noexcept { return impl_->origin.global_step; }
const std::string& exported_model::checkpoint() const noexcept { return impl_->origin.checkpoint; }
const std::map<std::string, double>& exported_model::evaluation() const noexcept { return impl_->origin.evaluation; }
const std::string& exported_model::remark() const noexcept { return impl_->remark; }
const std::map<std::string, export_signature>& exported_model::signatures() const noexcept { return impl_->signatures; }
const std::map<std::string, text_prediction>& exported_model::texts() const noexcept { return impl_->texts; }
const std::map<std::string, std::vector<std::string>>& exported_model::label_words() const noexcept {
  return impl_->label_words;
}

model exported_model::as_model(const std::string& signature) const {
  auto function = [m = impl_, signature](graph& g, const features& x, const labels& y, mode what) {
    return build(m, signature, {}, g, x, y, what);
  };
  auto words = texts();
  if (const auto known = signatures().find(signature); known != signatures().end())
    std::erase_if(words, [&outputs = known->second.outputs](const auto& text) {
      return std::none_of(outputs.begin(), outputs.end(), [&](const component& c) { return c.name == text.second.of; });
    });
  return {.name = name(), .build = std::move(function), .texts = std::move(words)};
}

model exported_model::as_model(const exported_head& head) const {
  auto function = [m = impl_, head](graph& g, const features& x, const labels& y, mode what) {
    return build(m, std::string{standard_signature}, head, g, x, y, what);
  };
  return {.name = name(), .build = std::move(function), .texts = texts()};
}

expected<std::vector<std::string>> list_exports(const std::string& directory) {
  const auto fs = posix_file_system();
  std::vector<std::string> bases{directory};
  const std::string exporters = join_path(directory, "export");
  if (const auto there = fs->list(exporters))
    for (const auto& f : *there)
      if (f.directory)
        bases.push_back(join_path(exporters, f.name));
  std::vector<std::pair<int64_t, std::string>> found;
  for (const auto& base : bases) {
    const auto numbers = exports_in(*fs, base);
    if (!numbers)
      return fail(numbers.error());
    for (const int64_t n : *numbers)
      found.emplace_back(n, join_path(base, std::to_string(n)));
  }
  std::ranges::stable_sort(found, {}, [](const auto& f) { return f.first; });
  std::vector<std::string> paths;
  for (auto& [number, path] : found)
    paths.push_back(std::move(path));
  return paths;
}

}  // namespace troupe
