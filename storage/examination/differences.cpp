#include "storage/checkpoints/checkpoint_store.hpp"

namespace troupe {

namespace {

std::string to_text(dtype type, const shape& dims) { return std::string{to_string(type)} + " " + to_text(dims); }

}  // namespace

std::vector<std::string> differences(std::span<const component> wanted, const checkpoint_info& found) {
  std::map<std::string_view, const component*> wants;
  std::map<std::string_view, const stored_tensor_info*> has;
  for (const auto& c : wanted)
    wants.emplace(c.name, &c);
  for (const auto& t : found.tensors)
    has.emplace(t.name, &t);
  std::map<std::string_view, std::string> lines;  // By name, so that both lines of one variable are adjacent.
  for (const auto& [name, c] : wants) {
    const std::string want = to_text(c->type, c->dims);
    if (const auto t = has.find(name); t == has.end())
      lines[name] = std::string{name} + " is missing: the model wants " + want;
    else if (t->second->type != c->type || t->second->dims != c->dims)
      lines[name] = std::string{name} + " differs: the model wants " + want + ", the checkpoint has "
                    + to_text(t->second->type, t->second->dims);
  }
  for (const auto& [name, t] : has)
    if (!wants.contains(name))
      lines[name] = std::string{name} + " is unexpected: the checkpoint has " + to_text(t->type, t->dims);
  std::vector<std::string> result;
  for (auto& [name, line] : lines)
    result.push_back(std::move(line));
  return result;
}

}  // namespace troupe
