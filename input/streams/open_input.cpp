#include "input/streams/open_input.hpp"

#include "words/guarded.hpp"

namespace troupe {

namespace {

/// "iterate() of the input 'tensors -> batch(4)'".
std::string called(const std::string& what, const dataset& input) {
  const auto text = guarded("to_text()", [&] { return input.to_text(); });
  return what + " of the input" + (text ? " '" + *text + "'" : "");
}

/// Calls `call` with the dataset's node. The text for errors is made only if something is thrown.
template <class T, class Call>
expected<T> ask(const dataset& input, const std::string& what, Call call) {
  try {
    return call(*input.node());
  } catch (...) {
    return fail(thrown_by(called(what, input)));
  }
}

}  // namespace

expected<std::unique_ptr<dataset_iterator>> open_input(const dataset& input, const iterate_options& options) {
  using opened = std::unique_ptr<dataset_iterator>;
  auto made = ask<opened>(input, "iterate()", [&](const dataset_node& node) { return node.iterate(options); });
  if (!made)
    return made;
  if (!*made)
    return fail(errc::invalid_argument, called("iterate()", input) + " returned no iterator");
  if ((*made)->batch_rows() < 1)
    return fail(errc::invalid_argument, called("batch_rows()", input) + " must be at least 1, not " + std::to_string((*made)->batch_rows()));
  return made;
}

expected<std::string> text_of(const dataset& input) {
  return ask<std::string>(input, "to_text()", [](const dataset_node& node) { return node.to_text(); });
}

expected<std::optional<int64_t>> examples_of(const dataset& input) {
  return ask<std::optional<int64_t>>(input, "source_size()", [](const dataset_node& node) { return node.source_size(); });
}

}  // namespace troupe
