#include "input/stages/transformations.hpp"
#include "input/streams/streamed.hpp"

#include <algorithm>

namespace troupe::input {

namespace {

/// Positions behind a few skips of this many elements are still integers of 64 bits.
constexpr int64_t skipped_max = int64_t{1} << 56;

class skip_stage final : public row_transformation {
 public:
  skip_stage(std::shared_ptr<const row_stage> inner, int64_t count)
    : row_transformation(std::move(inner)), count_(count) {}

  int64_t length(const reading& r) const override {
    const int64_t n = inner().length(r);
    return n == endless ? endless : std::max<int64_t>(0, n - count_);
  }
  void locate(const reading& r, uint64_t epoch, int64_t first, int64_t count,
              std::vector<row_range>& out) const override {
    inner().locate(r, epoch, first + count_, count, out);
  }

 protected:
  std::string stage_text(const reading*) const override { return "skip(" + std::to_string(count_) + ")"; }

 private:
  int64_t count_;
};

}  // namespace

stage_ptr skip(stage_ptr inner, int64_t count) {
  const std::string text = "skip(" + std::to_string(count) + ")";
  if (auto no = refused(inner, text))
    return no;
  if (count < 0 || count > skipped_max)
    return refuse(inner, text,
                  {errc::invalid_argument,
                   "skip passes over 0 to " + std::to_string(skipped_max) + " elements, not " + std::to_string(count)});
  auto indexed = std::dynamic_pointer_cast<const row_stage>(inner);
  if (!indexed)
    return streamed_skip(std::move(inner), text, count);
  if (const int64_t n = indexed->streams(); n > 0 && indexed->batch_size() == 0)
    return refuse(inner, text, breaks_streams(text, n, "skip examples before streams, or batches after batch"));
  return std::make_shared<skip_stage>(std::move(indexed), count);
}

}  // namespace troupe::input
