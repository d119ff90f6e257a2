// Summaries and observed values: checked while the graph is built, computed only when one is due.
#include "compute/graph/graph.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr int images_max_max = 16;

/// The tag under the current scope, made unique.
std::string scoped_tag(const graph_contents& g, std::string_view tag) {
  const std::string base = (g.scopes.empty() ? std::string{} : g.scopes.back()) + std::string{tag};
  const auto taken = [&](const std::string& t) {
    return std::any_of(g.summaries.begin(), g.summaries.end(), [&](const graph_summary& s) { return s.tag == t; });
  };
  std::string unique = base;
  for (int n = 1; taken(unique); ++n)
    unique = base + "_" + std::to_string(n);
  return unique;
}

/// Whether `graph::<call>` can record x; if not, keeps an error in the graph.
bool check(graph& g, std::string_view call, std::string_view tag, symbol x, std::source_location at) {
  if (tag.empty())
    return refuse(g, call, "the tag is empty", at), false;
  if (!x.valid() || x.owner() != &g)
    return refuse(g, call, "'" + std::string{tag} + "' is not a valid symbol of this graph", at), false;
  if (x.type() == dtype::boolean)
    return refuse(g, call, "'" + std::string{tag} + "' is boolean; cast it to a number first", at), false;
  return true;
}

symbol as_floating(symbol x, std::source_location at) {
  return is_floating(x.type()) ? x : cast(x, dtype::float32, at);
}

}  // namespace

void graph::scalar(std::string_view tag, symbol x, std::source_location at) {
  if (!check(*this, "scalar", tag, x, at))
    return;
  if (known_elements(x.dims()) != 1) {
    refuse(*this, "scalar", "'" + std::string{tag} + "' must be one number, not " + to_string(*this, x.dims()), at);
    return;
  }
  contents_->summaries.push_back(
      {summary_value::kind::scalar, scoped_tag(*contents_, tag), as_floating(x, at).node(), 0, {}});
}

void graph::histogram(std::string_view tag, symbol x, std::source_location at) {
  if (check(*this, "histogram", tag, x, at))
    contents_->summaries.push_back(
        {summary_value::kind::histogram, scoped_tag(*contents_, tag), as_floating(x, at).node(), 0, {}});
}

void graph::image(std::string_view tag, symbol x, int images_max, std::source_location at) {
  if (!check(*this, "image", tag, x, at))
    return;
  const auto wrong = [&](const std::string& what) { refuse(*this, "image", "'" + std::string{tag} + "' " + what, at); };
  if (x.type() != dtype::uint8 && !is_floating(x.type()))
    return wrong("must be uint8 or floating, not " + std::string{to_string(x.type())});
  const auto& dims = x.dims();
  if (dims.size() != 4 || !dims[1].known() || !dims[2].known() || dims[1].coefficient < 1 || dims[2].coefficient < 1
      || !(dims[3] == extent{1} || dims[3] == extent{3} || dims[3] == extent{4}))
    return wrong("must be [n, height, width, 1, 3 or 4], not " + to_string(*this, dims));
  if (images_max < 1 || images_max > images_max_max)
    return wrong("asks for " + std::to_string(images_max) + " images; 1 to " + std::to_string(images_max_max)
                 + " are kept");
  contents_->summaries.push_back({summary_value::kind::image, scoped_tag(*contents_, tag), x.node(), images_max, {}});
}

void graph::observe(std::string_view name, symbol x, std::source_location at) {
  const auto wrong = [&](const std::string& what) { refuse(*this, "observe", what, at); };
  const auto quoted = "'" + std::string{name} + "'";
  if (name.empty())
    return wrong("the name is empty");
  if (name == "loss" || name.starts_with("loss/"))
    return wrong(quoted + " is the name of a loss, which every hook sees");
  if (!x.valid() || x.owner() != this)
    return wrong(quoted + " is not a valid symbol of this graph");
  if (std::any_of(contents_->observed.begin(), contents_->observed.end(),
                  [&](const observed_value& o) { return o.name == name; }))
    return wrong(quoted + " is observed already");
  const bool per_row = !x.dims().empty() && !x.dims().front().known();
  if (!per_row && !is_floating(x.type()))
    return wrong(quoted + " is " + describe(x)
                 + "; a value without a batch axis is shown as a mean, so cast it to a floating dtype first");
  contents_->observed.push_back({std::string{name}, x.node(), per_row});
}

void graph::text(std::string_view tag, std::string text, std::source_location at) {
  if (tag.empty())
    refuse(*this, "text", "the tag is empty", at);
  else
    contents_->summaries.push_back({summary_value::kind::text, scoped_tag(*contents_, tag), -1, 0, std::move(text)});
}

}  // namespace troupe
