// Several heads side by side on one model.
#include "models/head_parts.hpp"

#include <algorithm>
#include <set>

namespace troupe {

namespace {

constexpr const char* multi_name = "multi_head";

/// The spec that one head makes of its part of the logits, which starts at logit `first`.
model_spec spec_of(const named_head& one, graph& g, const head_spec_options& o, int64_t first,
                   std::source_location at) {
  head_spec_options own{
      .mode = o.mode, .logits = slice(o.logits, 1, first, one.head.logits, at), .features = o.features};
  if (one.head.all_labels)
    own.labels = o.labels;
  else if (o.mode != mode::predict)
    own.labels = o.labels.get(g, one.label.empty() ? one.name : one.label, at);
  return one.head.spec(g, own, at);
}

/// Adds the export outputs of one head under its name. Its "serving_default" is called like the head.
void add_export_outputs(export_outputs& to, const std::string& head, const model_spec& part) {
  auto all = part.export_outputs;
  all["serving_default"];
  for (const auto& [signature, outputs] : all)
    for (const auto& [key, value] : outputs.empty() ? part.predictions : outputs)
      to[signature == "serving_default" ? head : head + "/" + signature][head + "/" + key] = value;
}

model_spec build_multi(const multi_head& h, graph& g, const head_spec_options& o, std::source_location at) {
  model_spec made{.at = at};
  int64_t first = 0;
  for (const auto& one : h.heads) {
    const auto part = spec_of(one, g, o, first, at);
    first += one.head.logits;
    if (!g.status())
      return {.at = at};
    for (const auto& [key, value] : part.predictions)
      made.predictions[one.name + "/" + key] = value;
    if (o.mode == mode::predict) {
      add_export_outputs(made.export_outputs, one.name, part);
      continue;
    }
    const symbol weighted = one.weight == 1 ? part.loss : scale(part.loss, one.weight, at);
    made.loss = made.loss.valid() ? add(made.loss, weighted, at) : weighted;
    for (const auto& [key, value] : part.metrics)
      made.metrics[one.name + "/" + key] = value;
    made.metrics["loss/" + one.name] = ratio_metric{part.loss, number_like(part.loss, 1, at)};
  }
  if (o.mode == mode::predict)
    made.export_outputs = with_predictions(std::move(made.export_outputs));
  return made;
}

std::optional<error> wrong_head(const named_head& one, const std::string& place, std::set<std::string>& names) {
  if (one.name.empty() || one.name.find('/') != std::string::npos)
    return wrong_option(multi_name, place + ".name must be a word without a slash, not '" + one.name + "'");
  if (!names.insert(one.name).second)
    return wrong_option(multi_name, place + ".name must be that of no other head, not '" + one.name + "' again");
  if (one.name == "loss")
    return wrong_option(multi_name,
                        place + ".name must not be 'loss', with which the names of the heads' losses begin");
  if (auto right = check_fields(one, place + "."); !right)
    return wrong_option(multi_name, right.error().message);
  if (one.head.wrong)
    return wrong_option(multi_name, place + ": " + one.head.wrong->message);
  if (!one.head.build || one.head.logits < 1)
    return wrong_option(multi_name, place + ".head is missing, such as troupe::binary_head{}");
  return {};
}

std::optional<error> wrong_heads(const std::vector<named_head>& heads) {
  if (heads.empty())
    return wrong_option(multi_name, "heads must be at least one, not none");
  if (heads.size() > listed_max)
    return wrong_option(multi_name,
                        "heads can be " + std::to_string(listed_max) + ", not " + std::to_string(heads.size()));
  std::set<std::string> names;
  for (size_t i = 0; i < heads.size(); ++i)
    if (auto wrong = wrong_head(heads[i], "heads[" + std::to_string(i) + "]", names))
      return wrong;
  if (std::all_of(heads.begin(), heads.end(), [](const named_head& one) { return one.weight == 0; }))
    return wrong_option(multi_name, "the weights of the heads must not all be 0: nothing would be learnt");
  return {};
}

}  // namespace

multi_head::operator head() const {
  int64_t logits = 0;
  for (const auto& one : heads)
    logits += one.head.logits;
  auto made = made_head(*this, logits, wrong_heads(heads), build_multi);
  made.all_labels = true;
  for (const auto& one : heads) {
    made.parts.push_back({one.name, one.head.logits});
    for (const auto& [key, text] : one.head.texts)
      made.texts[one.name + "/" + key] = {one.name + "/" + text.of, text.words};
    made.weight_features.insert(made.weight_features.end(), one.head.weight_features.begin(),
                                one.head.weight_features.end());
  }
  return made;
}

}  // namespace troupe
