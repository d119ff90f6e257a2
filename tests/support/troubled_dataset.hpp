// A dataset that fails, throws or waits at one batch, and otherwise behaves like the wrapped dataset.
#pragma once

#include <troupe/dataset_iterator.hpp>

#include <functional>

namespace troupe::test {

/// Calls `what` before the read of batch `at`, or before every read if `at` is negative. An error of `what` replaces
/// the read. `says`: how many rows each read says that it has read.
class troubled_stage final : public dataset_stage {
 public:
  using trouble = std::function<expected<void>()>;
  troubled_stage(std::shared_ptr<const dataset_stage> inner, int64_t at, trouble what, std::optional<int64_t> says = {})
    : inner_(std::move(inner)), at_(at), what_(std::move(what)), says_(says) {}
  element_spec spec() const override { return inner_->spec(); }
  std::string to_text() const override { return inner_->to_text() + " -> troubled"; }
  std::optional<int64_t> source_size() const override { return inner_->source_size(); }
  std::optional<int64_t> elements(bool drop) const override { return inner_->elements(drop); }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const override {
    auto inner = inner_->iterate(options);
    if (!inner)
      return inner;
    return std::make_unique<iterator>(std::move(*inner), at_, what_, says_);
  }

 private:
  class iterator final : public dataset_iterator {
   public:
    iterator(std::unique_ptr<dataset_iterator> inner, int64_t at, trouble what, std::optional<int64_t> says)
      : inner_(std::move(inner)), at_(at), what_(std::move(what)), says_(says) {}
    const element_spec& spec() const noexcept override { return inner_->spec(); }
    int64_t batch_rows() const noexcept override { return inner_->batch_rows(); }
    expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
      if (read_++ == at_ || at_ < 0)
        if (auto well = what_(); !well)
          return fail(well.error());
      auto rows = inner_->read(into, stop);
      return rows && says_ ? *says_ : rows;
    }
    expected<std::string> save() const override { return inner_->save(); }
    expected<void> restore(std::string_view state) override { return inner_->restore(state); }

   private:
    std::unique_ptr<dataset_iterator> inner_;
    int64_t at_, read_ = 0;
    trouble what_;
    std::optional<int64_t> says_;
  };
  std::shared_ptr<const dataset_stage> inner_;
  int64_t at_;
  trouble what_;
  std::optional<int64_t> says_;
};
}  // namespace troupe::test
