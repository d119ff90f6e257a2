#include "input/streams/example_rows.hpp"

#include "words/text.hpp"

#include <algorithm>

namespace troupe::input {

namespace {

expected<void> check_side(std::vector<component>& side, const std::string& what) {
  std::sort(side.begin(), side.end(), [](const component& a, const component& b) { return a.name < b.name; });
  for (size_t i = 0; i < side.size(); ++i) {
    const component& c = side[i];
    const auto refuse = [&](const std::string& why) {
      return fail(errc::invalid_argument, what + ": component '" + c.name + "' " + why);
    };
    if (auto named = check_name(c.name, what + ": a component"); !named)
      return named;
    if (i > 0 && side[i - 1].name == c.name)
      return refuse("is given twice");
    if (c.dims.rank() >= shape::max_rank)
      return refuse("has " + std::to_string(c.dims.rank()) + " axes; with the batch before them there may be at most "
                    + std::to_string(shape::max_rank));
    int64_t bytes = size_of(c.type);
    for (const int64_t extent : c.dims.extents()) {
      if (extent < 0)
        return refuse("has a negative extent: " + to_text(c.dims));
      if (__builtin_mul_overflow(bytes, std::max<int64_t>(1, extent), &bytes))
        return refuse("has more bytes than there can be: " + to_text(c.dims));
    }
  }
  return {};
}

expected<void> write_side(const std::vector<component>& wanted, const std::map<std::string, tensor>& given,
                          std::string_view side, std::span<std::byte* const> into) {
  const auto refuse = [](const std::string& why) { return fail(errc::invalid_argument, why); };
  for (size_t i = 0; i < wanted.size(); ++i) {
    const component& c = wanted[i];
    const auto found = given.find(c.name);
    if (found == given.end())
      return refuse("the " + std::string{side} + " '" + c.name + "' is missing");
    const tensor& value = found->second;
    if (value.type() != c.type || value.dims() != c.dims)
      return refuse("the " + std::string{side} + " '" + c.name + "' is " + type_text(value.type(), value.dims())
                    + " and should be " + type_text(c.type, c.dims));
    if (value.byte_size() > 0)
      std::memcpy(into[i], value.data(), static_cast<size_t>(value.byte_size()));
  }
  for (const auto& [name, value] : given)
    if (std::none_of(wanted.begin(), wanted.end(), [&, &key = name](const component& c) { return c.name == key; }))
      return refuse("the spec has no " + std::string{side} + " '" + name + "'");
  return {};
}

void read_side(const std::vector<component>& side, std::span<std::byte* const> from,
               std::map<std::string, tensor>& into) {
  for (size_t i = 0; i < side.size(); ++i)
    into.emplace(side[i].name,
                 tensor::copy_of(side[i].type, side[i].dims, {from[i], static_cast<size_t>(side[i].row_bytes())}));
}

}  // namespace

std::string to_text(const element_spec& spec) {
  std::string text;
  for (const auto* side : {&spec.features, &spec.labels})
    for (const component& c : *side)
      text.append(side == &spec.labels && &c == &side->front() ? " -> " : " ")
          .append(c.name)
          .append(" ")
          .append(type_text(c.type, c.dims));
  return text;
}

expected<void> check_name(const std::string& name, const std::string& what) {
  if (name.empty())
    return fail(errc::invalid_argument, what + " has no name");
  if (name.find('\n') != std::string::npos)
    return fail(errc::invalid_argument, what + " has a line break in its name, '" + name + "'");
  return {};
}

expected<element_spec> checked_spec(element_spec spec, const std::string& what) {
  if (spec.features.empty())
    return fail(errc::invalid_argument, what + ": the spec has no features");
  for (auto* side : {&spec.features, &spec.labels})
    if (auto ok = check_side(*side, what); !ok)
      return fail(ok.error());
  return spec;
}

expected<void> example_rows::write(const example_tensors& example, std::span<std::byte* const> into) const {
  if (auto done = write_side(spec_.features, example.features, "feature", into); !done)
    return done;
  return write_side(spec_.labels, example.labels, "label", into.subspan(spec_.features.size()));
}

example_tensors example_rows::read(std::span<std::byte* const> from) const {
  example_tensors example;
  read_side(spec_.features, from, example.features);
  read_side(spec_.labels, from.subspan(spec_.features.size()), example.labels);
  return example;
}

void example_rows::advance(std::span<std::byte*> rows) const {
  size_t i = 0;
  for (const auto* side : {&spec_.features, &spec_.labels})
    for (const component& c : *side)
      rows[i++] += c.row_bytes();
}

example_buffer::example_buffer(const element_spec& spec) {
  for (const auto* side : {&spec.features, &spec.labels})
    for (const component& c : *side)
      memory_.emplace_back(static_cast<size_t>(c.row_bytes()));
  for (auto& bytes : memory_)
    rows_.push_back(bytes.data());
}

}  // namespace troupe::input
