#include "pipeline/plan/own_data.hpp"

#include "ensemble/progress.hpp"
#include "input/streams/open_input.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// "float32 [8]", of one row.
std::string form_of(const component& c) { return std::string{to_string(c.type)} + " " + to_text(c.dims); }

/// How the components differ; nothing if they do not.
std::optional<std::string> difference(std::string_view what, const std::vector<component>& own,
                                      const std::vector<component>& searched) {
  const auto find = [](const std::vector<component>& all, const std::string& name) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const component& c) { return c.name == name; });
    return found == all.end() ? nullptr : &*found;
  };
  const auto name_of = [&](const component& c) {
    return "the " + std::string{what} + " " + quoted(printable(c.name)) + " is ";
  };
  for (const auto& c : searched)
    if (const auto* of_own = find(own, c.name); !of_own)
      return name_of(c) + "missing, and " + form_of(c) + " in the data of the search";
    else if (*of_own != c)
      return name_of(c) + form_of(*of_own) + ", and " + form_of(c) + " in the data of the search";
  for (const auto& c : own)
    if (!find(searched, c.name))
      return name_of(c) + form_of(c) + ", and missing in the data of the search";
  return std::nullopt;
}

expected<std::optional<int64_t>> own_steps(const dataset& input, const batch_form& search, uint64_t seed) {
  const auto steps = batches_of(input);
  if (!steps)
    return steps;
  if (steps->value_or(1) < 1)
    return fail(errc::invalid_argument, "they have no batch");
  const auto opened = open_input(input, {.seed = seed, .drop_remainder = true});
  if (!opened)
    return fail(opened.error());
  const auto& element = (*opened)->spec();
  auto other = difference("feature", element.features, search.element.features);
  if (!other)
    other = difference("label", element.labels, search.element.labels);
  if (other)
    return fail(errc::invalid_argument, *other);
  if (const auto rows = (*opened)->batch_rows(); rows != search.rows)
    return fail(errc::invalid_argument, "a batch has " + std::to_string(rows) + " rows, and one of the search's data "
                                            + std::to_string(search.rows) + ": batches must be of one size");
  // As good as endless, and too many to count states with.
  return *steps && **steps > ticks_max ? std::nullopt : *steps;
}

}  // namespace

expected<void> enter_own_data(const iteration_basis& basis, const batch_form& search, uint64_t seed,
                              iteration_specs& specs) {
  for (auto& spec : specs.subnetworks) {
    const auto* b = basis.find({basis.iteration(), spec.builder});
    if (!b || !b->train_input)
      continue;
    auto steps = own_steps(*b->train_input, search, seed);
    if (!steps) {
      steps.error().message = "train_input of the builder " + quoted(b->name) + ": " + steps.error().message;
      return fail(std::move(steps.error()));
    }
    spec.input_steps = *steps;
  }
  return {};
}

}  // namespace troupe
