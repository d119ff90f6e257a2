#include "input/sources/generator_source.hpp"
#include "input/sources/memory_source.hpp"
#include "input/stages/transformations.hpp"

namespace troupe {

dataset_iterator::~dataset_iterator() = default;
std::vector<std::string> dataset_iterator::warnings() const { return {}; }
std::optional<int64_t> dataset_iterator::source_rows() const { return std::nullopt; }
expected<lent_batches> dataset_iterator::lend(int64_t) { return lent_batches{}; }
void dataset_iterator::last_rows(std::span<int64_t>) const {}
dataset_stage::~dataset_stage() = default;
int64_t dataset_stage::streams() const noexcept { return 0; }
bool dataset_stage::never_ends() const noexcept { return false; }

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

expected<dataset> dataset::from_generator(element_spec spec, int64_t count,
                                          std::function<expected<example_tensors>(int64_t)> make, std::string name) {
  return input::indexed_generator(std::move(name), std::move(spec), count, std::move(make));
}

expected<dataset> dataset::from_generator(element_spec spec,
                                          std::function<expected<std::optional<example_tensors>>()> next,
                                          std::string name) {
  std::function<expected<example_stream>()> open;
  if (next)
    open = [next = std::move(next)] { return example_stream{.next = next}; };
  return input::streamed_generator(std::move(name), std::move(spec), std::move(open));
}

expected<dataset> dataset::from_generator(element_spec spec, std::function<expected<example_stream>()> open,
                                          std::string name) {
  return input::streamed_generator(std::move(name), std::move(spec), std::move(open));
}

const std::shared_ptr<const dataset_stage>& dataset::last_stage() const noexcept {
  return last_stage_ ? last_stage_ : input::absent();
}

dataset dataset::map(std::string name, std::function<expected<example_tensors>(const example_tensors&)> change,
                     std::optional<element_spec> becomes) const {
  return dataset{input::map(last_stage(), name, std::move(change), std::move(becomes))};
}
dataset dataset::shuffle(std::optional<uint64_t> seed) const { return dataset{input::shuffle(last_stage(), seed)}; }
dataset dataset::batch(int64_t size, std::optional<bool> drop_remainder) const {
  return dataset{input::batch(last_stage(), size, drop_remainder)};
}
dataset dataset::repeat(std::optional<int64_t> epochs) const { return dataset{input::repeat(last_stage(), epochs)}; }
dataset dataset::take(int64_t count) const { return dataset{input::take(last_stage(), count)}; }
dataset dataset::skip(int64_t count) const { return dataset{input::skip(last_stage(), count)}; }
dataset dataset::shard(int64_t count, int64_t index) const { return dataset{input::shard(last_stage(), count, index)}; }
dataset dataset::window(int64_t size, int64_t shift) const { return dataset{input::window(last_stage(), size, shift)}; }
dataset dataset::streams(int64_t n, stream_options options) const {
  return dataset{input::streams(last_stage(), n, std::move(options.begins))};
}

element_spec dataset::spec() const { return last_stage()->spec(); }
std::string dataset::to_text() const { return last_stage()->to_text(); }
std::optional<int64_t> dataset::source_size() const { return last_stage()->source_size(); }

}  // namespace troupe
