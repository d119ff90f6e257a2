#include "input/streams/row_numbers.hpp"

#include "input/streams/added_feature.hpp"

namespace troupe {

namespace {

class numbered_iterator final : public dataset_iterator {
 public:
  numbered_iterator(std::unique_ptr<dataset_iterator> inner, const std::string& name)
    : inner_(std::move(inner)), spec_(input::with_feature(inner_->spec(), {name, dtype::int64, {}})),
      place_(input::place_of(name, inner_->spec())) {}

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

  element_spec spec() const override { return input::with_feature(inner_->spec(), {name_, dtype::int64, {}}); }
  std::string to_text() const override { return inner_->to_text(); }
  std::optional<int64_t> source_size() const override { return inner_->source_size(); }
  std::optional<int64_t> elements(bool drop_remainder) const override { return inner_->elements(drop_remainder); }
  int64_t streams() const noexcept override { return inner_->streams(); }
  bool never_ends() const noexcept override { return inner_->never_ends(); }
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
