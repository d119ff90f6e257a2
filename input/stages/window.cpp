#include "input/stages/transformations.hpp"

#include <algorithm>

namespace troupe::input {

namespace {

/// Element i of an epoch consists of the elements [i·shift, i·shift + size) of the inner stage's epoch. Incomplete
/// windows are left out.
class window_stage final : public row_transformation {
 public:
  window_stage(std::shared_ptr<const row_stage> inner, int64_t size, int64_t shift)
    : row_transformation(std::move(inner)), size_(size), shift_(shift) {}

  int64_t rows_per_example() const noexcept override { return size_ * inner().rows_per_example(); }

  element_spec spec() const override {
    element_spec s = inner().spec();
    for (auto* components : {&s.features, &s.labels})
      for (component& c : *components)
        c.dims = c.dims.prepend(size_);
    return s;
  }

  /// A training example is a window, so the size of an epoch is the number of windows.
  std::optional<int64_t> source_size() const override { return elements(false); }

  int64_t length(const reading& r) const override {
    const int64_t n = inner().length(r);
    return n < size_ ? 0 : (n - size_) / shift_ + 1;
  }

  void locate(const reading& r, uint64_t epoch, int64_t first, int64_t count,
              std::vector<row_range>& out) const override {
    if (size_ == shift_)
      return inner().locate(r, epoch, first * size_, count * size_, out);
    for (int64_t i = first; i < first + count; ++i)
      inner().locate(r, epoch, i * shift_, size_, out);
  }

 protected:
  std::string stage_text(const reading*) const override {
    return "window(" + std::to_string(size_) + ", " + std::to_string(shift_) + ")";
  }

 private:
  int64_t size_;
  int64_t shift_;
};

/// Whether a window of each component has a valid rank, and a size in bytes that does not overflow.
bool fits(const element_spec& s, int64_t size) {
  const auto one = [size](const component& c) {
    int64_t bytes = 0;
    return c.dims.rank() + 2 <= shape::max_rank  // The axes of batch and window are added.
           && !__builtin_mul_overflow(std::max<int64_t>(1, c.dims.elements() * size_of(c.type)), size, &bytes);
  };
  return std::all_of(s.features.begin(), s.features.end(), one) && std::all_of(s.labels.begin(), s.labels.end(), one);
}

}  // namespace

stage_ptr window(stage_ptr inner, int64_t size, int64_t shift) {
  const std::string text = "window(" + std::to_string(size) + ", " + std::to_string(shift) + ")";
  if (auto no = refused(inner, text))
    return no;
  if (size < 1 || shift < 1)
    return refuse(inner, text,
                  {errc::invalid_argument, "a window has at least 1 element and is shifted by at least 1, not "
                                               + std::to_string(size) + " and " + std::to_string(shift)});
  auto indexed = std::dynamic_pointer_cast<const row_stage>(inner);
  if (!indexed)
    return refuse(inner, text,
                  {errc::unimplemented,
                   "window needs a source that can be read in any order, which " + inner->to_text() + " cannot"});
  if (indexed->batch_size() > 0)
    return refuse(inner, text,
                  {errc::invalid_argument,
                   text + " follows batch(" + std::to_string(indexed->batch_size()) + "): cut windows first"});
  if (const int64_t n = indexed->streams(); n > 0)
    return refuse(inner, text, breaks_streams(text, n, "cut windows before streams"));
  if (indexed->length({}) == endless)
    return refuse(inner, text,
                  {errc::invalid_argument, "window follows an endless repeat: cut windows first, and repeat them"});
  if (!fits(inner->spec(), size))
    return refuse(inner, text,
                  {errc::invalid_argument,
                   "a window of " + std::to_string(size) + " elements has more axes or bytes than there can be"});
  return std::make_shared<window_stage>(std::move(indexed), size, shift);
}

}  // namespace troupe::input
