#include "compute/engine/called_tensors.hpp"

#include "compute/graph/graph.hpp"

#include <cstring>

namespace troupe {

called_tensors::called_tensors(const model_graph& of) {
  for (const auto& call : contents_of(of.g).host_calls) {
    auto& form = forms_.emplace_back(host_call_form{call.name, {}, call.every, of.host_calls.at(call.name)});
    for (const auto& [name, node] : call.tensors)
      form.tensors.push_back(name);
  }
}

bool called_tensors::begin(const program& p, call_set due, int32_t shards) {
  entry_.clear();
  memory_.clear();
  due_ = due;
  if (due == 0)
    return true;
  auto output = p.called().begin();
  for (size_t c = 0; c < forms_.size(); ++c)
    for (size_t t = 0; t < forms_[c].tensors.size(); ++t, ++output) {
      if ((due & (call_set{1} << c)) == 0)
        continue;
      const shape dims = output->dims.inner().prepend(output->dims[0] * shards);
      auto memory = pool_.take(dims.elements() * size_of(output->type));
      if (!memory)
        return false;
      memory_.push_back(memory.get());
      entry_.push_back({output->type, dims, std::move(memory)});
    }
  return true;
}

void called_tensors::keep(const program& p, int32_t shard) {
  if (due_ == 0)
    return;
  auto memory = memory_.begin();
  for (size_t c = 0; c < forms_.size(); ++c) {
    if ((due_ & (call_set{1} << c)) == 0)
      continue;
    for (size_t t = 0; t < forms_[c].tensors.size(); ++t, ++memory) {
      const auto bytes = p.called_bytes(c, t);
      std::memcpy(*memory + shard * std::ssize(bytes), bytes.data(), bytes.size());
    }
  }
}

}  // namespace troupe
