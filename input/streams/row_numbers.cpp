#include "input/streams/row_numbers.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// Where the feature is among the components, which are sorted by name, labels behind features.
size_t place_of(const std::string& name, const element_spec& spec) {
  const auto after = std::find_if(spec.features.begin(), spec.features.end(),
                                  [&](const component& c) { return name < c.name; });
  return static_cast<size_t>(after - spec.features.begin());
}

element_spec with_feature(element_spec spec, const std::string& name) {
  spec.features.insert(spec.features.begin() + static_cast<std::ptrdiff_t>(place_of(name, spec)),
                       component{name, dtype::int64, {}});
  return spec;
}

class numbered_iterator final : public dataset_iterator {
 public:
  numbered_iterator(std::unique_ptr<dataset_iterator> inner, const std::string& name)
    : inner_(std::move(inner)), spec_(with_feature(inner_->spec(), name)), place_(place_of(name, inner_->spec())) {}

  const element_spec& spec() const noexcept override { return spec_; }
  int64_t batch_rows() const noexcept override { return inner_->batch_rows(); }
  expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
    others_.assign(into.begin(), into.end());
    others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(place_));
    const auto rows = inner_->read(others_, stop);
    if (rows)
      inner_->last_rows({reinterpret_cast<int64_t*>(into[place_]), static_cast<size_t>(*rows)});
    return rows;
  }
  expected<std::string> save() const override { return inner_->save(); }
  expected<void> restore(std::string_view state) override { return inner_->restore(state); }
  std::vector<std::string> warnings() const override { return inner_->warnings(); }
  std::optional<int64_t> source_rows() const override { return inner_->source_rows(); }
  void last_rows(std::span<int64_t> into) const override { inner_->last_rows(into); }

 private:
  std::unique_ptr<dataset_iterator> inner_;
  element_spec spec_;
  size_t place_;
  std::vector<std::byte*> others_;  ///< A member, so that batches reuse its memory.
};

class numbered_stage final : public dataset_stage {
 public:
  numbered_stage(std::shared_ptr<const dataset_stage> inner, std::string name)
    : inner_(std::move(inner)), name_(std::move(name)) {}

  element_spec spec() const override { return with_feature(inner_->spec(), name_); }
  std::string to_text() const override { return inner_->to_text(); }
  std::optional<int64_t> source_size() const override { return inner_->source_size(); }
  std::optional<int64_t> elements(bool drop_remainder) const override { return inner_->elements(drop_remainder); }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const override {
    return inner_->iterate(options).map(
        [&](std::unique_ptr<dataset_iterator> inner) -> std::unique_ptr<dataset_iterator> {
          return inner ? std::make_unique<numbered_iterator>(std::move(inner), name_) : nullptr;
        });
  }

 private:
  std::shared_ptr<const dataset_stage> inner_;
  std::string name_;
};

}  // namespace

dataset with_row_numbers(const dataset& input, const std::string& name) {
  return dataset{std::make_shared<const numbered_stage>(input.last_stage(), name)};
}

}  // namespace troupe
