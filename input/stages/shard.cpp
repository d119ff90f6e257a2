#include "input/stages/transformations.hpp"
#include "input/streams/streamed.hpp"

namespace troupe::input {

namespace {

/// Element i is element i·count + index of the inner stage.
class shard_stage final : public row_transformation {
 public:
  shard_stage(std::shared_ptr<const row_stage> inner, int64_t count, int64_t index)
    : row_transformation(std::move(inner)), count_(count), index_(index) {}

  int64_t length(const reading& r) const override {
    const int64_t n = inner().length(r);
    if (n == endless)
      return endless;
    return n / count_ + (n % count_ > index_ ? 1 : 0);
  }
  void locate(const reading& r, uint64_t epoch, int64_t first, int64_t count,
              std::vector<row_range>& out) const override {
    for (int64_t i = first; i < first + count; ++i)
      inner().locate(r, epoch, i * count_ + index_, 1, out);
  }
  /// Every count-th batch continues the one before it in the same shard.
  int64_t streams() const noexcept override { return inner().streams() / count_; }

 protected:
  std::string stage_text(const reading*) const override {
    return "shard(" + std::to_string(count_) + ", " + std::to_string(index_) + ")";
  }

 private:
  int64_t count_;
  int64_t index_;
};

}  // namespace

stage_ptr shard(stage_ptr inner, int64_t count, int64_t index) {
  const std::string text = "shard(" + std::to_string(count) + ", " + std::to_string(index) + ")";
  if (auto no = refused(inner, text))
    return no;
  // With more, the number of an element of an endless dataset could be beyond an int64_t.
  constexpr int64_t shards_max = int64_t{1} << 31;
  if (count < 1 || count > shards_max || index < 0 || index >= count)
    return refuse(inner, text,
                  {errc::invalid_argument, text + ": there are at least 1 shard and an index below their number, and "
                                               + "at most " + std::to_string(shards_max) + " shards"});
  auto indexed = std::dynamic_pointer_cast<const row_stage>(inner);
  if (!indexed)
    return streamed_shard(std::move(inner), text, count, index);
  if (const int64_t n = indexed->streams(); n > 0 && (indexed->batch_size() == 0 || n % count != 0))
    return refuse(
        inner, text,
        breaks_streams(text, n,
                       "divide batches after batch, into a number of shards that divides " + std::to_string(n)));
  return std::make_shared<shard_stage>(std::move(indexed), count, index);
}

}  // namespace troupe::input
