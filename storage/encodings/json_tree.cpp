#include "storage/encodings/json_tree.hpp"

#include <array>
#include <iterator>

namespace troupe {

namespace {

using value = json_tree::value;

value& last_of(value& of) noexcept {
  return of.is_array() ? of.get_ref<value::array_t&>().back() : std::prev(of.get_ref<value::object_t&>().end())->second;
}

void remove_last(value& from) noexcept {
  if (from.is_array())
    return from.get_ref<value::array_t&>().pop_back();
  auto& members = from.get_ref<value::object_t&>();
  members.erase(std::prev(members.end()));
}

}  // namespace

json_tree::json_tree(std::string_view text) {
  // nlohmann's own `parse` would destroy the partial tree on an exception.
  nlohmann::detail::json_sax_dom_parser<value> builder{held_.root};
  value::sax_parse(text, &builder);
}

int64_t integer_of(const json_tree::value& j) {
  if (!j.is_number_integer() || (j.is_number_unsigned() && j.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)))
    throw value::type_error::create(
        302, std::string{"type must be an integer of 64 bits, but is "} + (j.is_number() ? j.dump() : j.type_name()),
        &j);
  return j.get<int64_t>();
}

/// Removes the last leaf until none is left: destroying a value without elements allocates nothing.
json_tree::holder::~holder() {
  std::array<value*, json_depth_max + 1> path{&root};
  for (size_t depth = 0;;) {
    value& at = *path[depth];
    if (at.is_structured() && !at.empty()) {
      path[++depth] = &last_of(at);
      continue;
    }
    if (depth-- == 0)
      return;
    remove_last(*path[depth]);
  }
}

}  // namespace troupe
