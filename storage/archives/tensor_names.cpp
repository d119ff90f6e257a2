#include "storage/archives/tensor_names.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// Whether `segment` names a tower or a partition: "t_0", "part_12".
bool is_part(std::string_view segment) {
  for (const std::string_view beginning : {"t_", "part_"})
    if (segment.starts_with(beginning) && segment.size() > beginning.size())
      return segment.find_first_not_of("0123456789", beginning.size()) == std::string_view::npos;
  return false;
}

/// The Troupe name of a slot: "w/Adagrad" for "w/t_0/Adagrad" if "w" has the same shape. For any other tensor its own
/// name.
std::string name_of_slot(const tensor_archive& archive, const archived_tensor& t) {
  const size_t last = t.name.rfind('/');
  const size_t part = last == std::string::npos || last == 0 ? std::string::npos : t.name.rfind('/', last - 1);
  if (part == std::string::npos || !is_part(std::string_view{t.name}.substr(part + 1, last - part - 1)))
    return t.name;
  const std::string variable = t.name.substr(0, part);
  const auto* of = archive.find(variable);
  return of && of->extents == t.extents ? variable + t.name.substr(last) : t.name;
}

}  // namespace

std::map<std::string, const archived_tensor*> names_here(const tensor_archive& archive) {
  std::map<std::string, const archived_tensor*> names;
  for (const auto& t : archive.tensors()) {
    auto name = archive.format() == archive_format::tensorflow ? name_of_slot(archive, t) : t.name;
    const bool taken = name != t.name && (archive.find(name) || names.contains(name));
    names.emplace(taken ? t.name : std::move(name), &t);
  }
  return names;
}

std::optional<std::string> left_here(const archived_tensor& t) {
  const std::string_view last = std::string_view{t.name}.substr(t.name.rfind('/') + 1);
  if (last == "beta1_power" || last == "beta2_power")
    return "Troupe computes this power from the step";
  if (t.type == "string")
    return "it holds texts, and tensors of Troupe hold numbers";
  if (t.problem && t.problem->category != errc::unimplemented)
    return {};  // A damaged tensor is an error, so it is not left out.
  if (!t.ours())
    return "it is " + type_text(t) + ", and Troupe has no such tensors";
  return {};
}

}  // namespace troupe
