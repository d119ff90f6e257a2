#include "input/stages/transformations.hpp"
#include "input/streams/streamed.hpp"

#include <algorithm>

namespace troupe::input {

namespace {

std::string text_of(int64_t size, std::optional<bool> drop_remainder) {
  return "batch(" + std::to_string(size)
         + (drop_remainder ? std::string{", drop_remainder = "} + (*drop_remainder ? "true" : "false") : "") + ")";
}

/// Element i of an epoch consists of the elements [i·size, (i+1)·size) of the inner stage's epoch; the last one may
/// have fewer.
class batch_stage final : public row_transformation {
 public:
  batch_stage(std::shared_ptr<const row_stage> inner, int64_t size, std::optional<bool> drop_remainder)
    : row_transformation(std::move(inner)), size_(size), drop_remainder_(drop_remainder) {}

  int64_t batch_size() const noexcept override { return size_; }
  bool batches_in_order() const noexcept override { return true; }

  int64_t length(const reading& r) const override {
    const int64_t n = inner().length(r);
    if (n == endless)
      return endless;
    return n / size_ + (n % size_ != 0 && !drop_remainder_.value_or(r.drop_remainder));
  }

  void locate(const reading& r, uint64_t epoch, int64_t first, int64_t count,
              std::vector<row_range>& out) const override {
    const int64_t begin = first * size_;
    inner().locate(r, epoch, begin, std::min(count * size_, inner().length(r) - begin), out);
  }

 protected:
  std::string stage_text(const reading* r) const override {
    return text_of(size_, drop_remainder_ || !r ? drop_remainder_ : r->drop_remainder);
  }

 private:
  int64_t size_;
  std::optional<bool> drop_remainder_;
};

}  // namespace

stage_ptr batch(stage_ptr inner, int64_t size, std::optional<bool> drop_remainder) {
  const std::string text = text_of(size, drop_remainder);
  if (auto no = refused(inner, text))
    return no;
  if (size < 1)
    return refuse(inner, text, {errc::invalid_argument, "a batch has at least 1 example, not " + std::to_string(size)});
  auto indexed = std::dynamic_pointer_cast<const row_stage>(inner);
  if (!indexed)
    return streamed_batch(std::move(inner), text, size, drop_remainder);
  if (indexed->batch_size() > 0)
    return refuse(inner, text,
                  {errc::invalid_argument, text + " follows batch(" + std::to_string(indexed->batch_size())
                                               + "): the elements are batches already"});
  return std::make_shared<batch_stage>(std::move(indexed), size, drop_remainder);
}

}  // namespace troupe::input
