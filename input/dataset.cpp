#include "input/sources/memory_source.hpp"
#include "input/stages/transformations.hpp"

namespace troupe {

dataset_iterator::~dataset_iterator() = default;
std::vector<std::string> dataset_iterator::warnings() const { return {}; }
dataset_node::~dataset_node() = default;

expected<dataset> dataset::from_tensors(std::vector<std::pair<std::string, tensor>> features,
                                        std::vector<std::pair<std::string, tensor>> labels) {
  const auto columns = [](std::vector<std::pair<std::string, tensor>>& named) {
    std::vector<input::column> result;
    for (auto& [name, rows] : named) {
      const shape row = rows.dims().rank() > 0 ? rows.dims().inner() : shape{};
      result.push_back({{name, rows.type(), row}, std::move(rows)});
    }
    return result;
  };
  return input::memory_source("tensors", columns(features), columns(labels));
}

dataset dataset::shuffle(std::optional<uint64_t> seed) const { return dataset{input::shuffle(node_, seed)}; }
dataset dataset::batch(int64_t size, std::optional<bool> drop_remainder) const { return dataset{input::batch(node_, size, drop_remainder)}; }
dataset dataset::repeat(std::optional<int64_t> epochs) const { return dataset{input::repeat(node_, epochs)}; }
dataset dataset::take(int64_t count) const { return dataset{input::take(node_, count)}; }
dataset dataset::skip(int64_t count) const { return dataset{input::skip(node_, count)}; }
dataset dataset::window(int64_t size, int64_t shift) const { return dataset{input::window(node_, size, shift)}; }

element_spec dataset::spec() const { return node_->spec(); }
std::string dataset::to_text() const { return node_->to_text(); }
std::optional<int64_t> dataset::source_size() const { return node_->source_size(); }

}  // namespace troupe
