#include "input/stages/transformations.hpp"
#include "input/streams/permutation.hpp"

#include <algorithm>
#include <array>

namespace troupe::input {

namespace {

/// Element i of epoch e is element p(i) of the inner stage's epoch e. The key of the permutation p is (seed, e).
class shuffle_stage final : public row_transformation {
 public:
  shuffle_stage(std::shared_ptr<const row_stage> inner, std::optional<uint64_t> seed)
    : row_transformation(std::move(inner)), seed_(seed) {}

  int64_t length(const reading& r) const override { return inner().length(r); }
  uint64_t shuffles() const noexcept override { return inner().shuffles() + 1; }

  void locate(const reading& r, uint64_t epoch, int64_t first, int64_t count,
              std::vector<row_range>& out) const override {
    const uint64_t seed = mixed(seed_.value_or(r.seed)) + inner().shuffles();
    const permutation p{mixed(mixed(seed) ^ epoch), length(r)};
    std::array<int64_t, 256> chunk;
    while (count > 0) {
      const std::span<int64_t> to{chunk.data(), std::min(chunk.size(), static_cast<size_t>(count))};
      p.apply(first, to);
      for (int64_t i : to)
        inner().locate(r, epoch, i, 1, out);
      first += static_cast<int64_t>(to.size());
      count -= static_cast<int64_t>(to.size());
    }
  }

 protected:
  std::string stage_text(const reading* r) const override {
    if (!seed_ && !r)
      return "shuffle";
    return "shuffle(seed = " + std::to_string(seed_ ? *seed_ : r->seed) + ")";
  }

 private:
  std::optional<uint64_t> seed_;
};

}  // namespace

stage_ptr shuffle(stage_ptr inner, std::optional<uint64_t> seed) {
  const std::string text = seed ? "shuffle(seed = " + std::to_string(*seed) + ")" : "shuffle";
  if (auto no = refused(inner, text))
    return no;
  auto indexed = std::dynamic_pointer_cast<const row_stage>(inner);
  if (!indexed)
    return refuse(inner, text,
                  {errc::unimplemented,
                   "shuffle needs a source that can be read in any order, which " + inner->to_text() + " cannot"});
  if (const int64_t n = indexed->streams(); n > 0)
    return refuse(inner, text, breaks_streams(text, n, "shuffle documents or windows before streams"));
  if (indexed->length({}) == endless)
    return refuse(inner, text,
                  {errc::invalid_argument,
                   "shuffle follows an endless repeat: shuffle first, and every pass has an order of its own"});
  return std::make_shared<shuffle_stage>(std::move(indexed), seed);
}

}  // namespace troupe::input
