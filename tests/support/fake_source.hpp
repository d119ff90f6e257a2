// A dataset iterator that a test controls: batch s has the feature x = 100 s + row and the label y = {s, row}.
#pragma once

#include <troupe/dataset_iterator.hpp>

#include <functional>
#include <map>

namespace troupe::test {

/// Shared by all iterators of one dataset. Tests set the fields down to `before`, and read the others.
struct fake_source {
  int64_t batches = INT64_MAX;
  int64_t rows = 2;
  int64_t last_rows = 0;               ///< Rows of the last batch; 0: as many as in the others.
  std::map<int64_t, int64_t> rows_at;  ///< Rows of single batches that have fewer than `rows`, by batch.
  std::map<int64_t, error> trouble;    ///< The errors with which reads fail, by batch.
  std::optional<error> cannot_open, cannot_save;

  std::function<void(int64_t)> before;  ///< Called before each read, with the number of the batch.

  std::vector<int64_t> reads;  ///< The batches that were read, by any iterator.
  int opened = 0;
};

class fake_iterator final : public dataset_iterator {
 public:
  explicit fake_iterator(std::shared_ptr<fake_source> source) : source_(std::move(source)) {}

  const element_spec& spec() const noexcept override { return spec_; }
  int64_t batch_rows() const noexcept override { return source_->rows; }
  expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token&) override {
    if (source_->before)
      source_->before(next_);
    if (next_ >= source_->batches)
      return fail(errc::out_of_range, "the fake data ended");
    if (const auto t = source_->trouble.find(next_); t != source_->trouble.end())
      return fail(t->second);
    int64_t rows = next_ + 1 == source_->batches && source_->last_rows > 0 ? source_->last_rows : source_->rows;
    if (const auto fewer = source_->rows_at.find(next_); fewer != source_->rows_at.end())
      rows = fewer->second;
    for (int64_t r = 0; r < rows; ++r) {
      reinterpret_cast<float*>(into[0])[r] = static_cast<float>(100 * next_ + r);
      reinterpret_cast<int32_t*>(into[1])[2 * r] = static_cast<int32_t>(next_);
      reinterpret_cast<int32_t*>(into[1])[2 * r + 1] = static_cast<int32_t>(r);
    }
    source_->reads.push_back(next_++);
    return rows;
  }
  expected<std::string> save() const override {
    if (source_->cannot_save)
      return fail(*source_->cannot_save);
    return "batch " + std::to_string(next_);
  }
  expected<void> restore(std::string_view state) override {
    next_ = std::stoll(std::string{state.substr(6)});
    return {};
  }

 private:
  std::shared_ptr<fake_source> source_;
  int64_t next_ = 0;
  element_spec spec_{{{"x", dtype::float32, {}}}, {{"y", dtype::int32, {2}}}};
};

/// For `infeed_options::open`.
inline auto opener(std::shared_ptr<fake_source> source) {
  return [source]() -> expected<std::unique_ptr<dataset_iterator>> {
    ++source->opened;
    if (source->cannot_open)
      return fail(*source->cannot_open);
    return std::make_unique<fake_iterator>(source);
  };
}

}  // namespace troupe::test
