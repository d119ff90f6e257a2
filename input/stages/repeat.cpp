#include "input/stages/transformations.hpp"
#include "input/streams/streamed.hpp"

#include <algorithm>

namespace troupe::input {

namespace {

std::string text_of(std::optional<int64_t> epochs) {
  return epochs ? "repeat(" + std::to_string(*epochs) + ")" : "repeat";
}

/// One epoch of this stage is `epochs` consecutive epochs of the inner stage.
class repeat_stage final : public row_transformation {
 public:
  repeat_stage(std::shared_ptr<const row_stage> inner, std::optional<int64_t> epochs)
    : row_transformation(std::move(inner)), epochs_(epochs) {}

  bool batches_in_order() const noexcept override { return inner().batches_in_order(); }
  int64_t batches_of_epoch(const reading& r) const override { return inner().batches_of_epoch(r); }

  int64_t length(const reading& r) const override {
    const int64_t n = inner().length(r);
    int64_t product = 0;
    if (n == 0)
      return 0;
    return !epochs_ || __builtin_mul_overflow(n, *epochs_, &product) ? endless : product;
  }

  void locate(const reading& r, uint64_t epoch, int64_t first, int64_t count,
              std::vector<row_range>& out) const override {
    const int64_t n = inner().length(r);
    // Inner epochs are numbered consecutively over the repeats of an outer `repeat`, so that no two have the same
    // shuffle.
    const uint64_t passed = epochs_ ? epoch * static_cast<uint64_t>(*epochs_) : epoch << 32;
    while (count > 0) {
      const int64_t from = first % n;
      const int64_t here = std::min(count, n - from);
      inner().locate(r, passed + static_cast<uint64_t>(first / n), from, here, out);
      first += here;
      count -= here;
    }
  }

 protected:
  std::string stage_text(const reading*) const override { return text_of(epochs_); }

 private:
  std::optional<int64_t> epochs_;
};

}  // namespace

stage_ptr repeat(stage_ptr inner, std::optional<int64_t> epochs) {
  const std::string text = text_of(epochs);
  if (auto no = refused(inner, text))
    return no;
  if (epochs && *epochs < 1)
    return refuse(inner, text,
                  {errc::invalid_argument, "repeat takes at least 1 pass, not " + std::to_string(*epochs)});
  auto indexed = std::dynamic_pointer_cast<const row_stage>(inner);
  if (!indexed)
    return streamed_repeat(std::move(inner), text, epochs);
  return std::make_shared<repeat_stage>(std::move(indexed), epochs);
}

}  // namespace troupe::input
