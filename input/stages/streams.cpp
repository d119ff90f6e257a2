#include "input/stages/transformations.hpp"
#include "input/streams/added_feature.hpp"
#include "input/streams/example_rows.hpp"

#include <algorithm>
#include <array>
#include <memory_resource>

namespace troupe::input {

namespace {

std::string text_of_streams(int64_t n, const std::string& begins) {
  return "streams(" + std::to_string(n) + (begins.empty() ? "" : ", " + begins) + ")";
}

/// Element j of an epoch is the element (j mod n)·(L/n) + j/n of the inner stage's epoch of L elements: the j/n-th one
/// of stream j mod n.
///
/// Whether a stream begins with an element depends on j and not on its rows, and only `locate` knows j. So `locate`
/// marks the ranges of rows, and this stage, as the reader of the rows, writes the marks as a feature. A later `map`
/// divides the ranges by examples and keeps their marks.
class streams_stage final : public row_transformation, public row_reader {
 public:
  streams_stage(const std::shared_ptr<const row_stage>& before, int64_t n, std::string begins)
    : row_transformation(before), n_(n), begins_(std::move(begins)), place_(place_of(begins_, before->spec())) {}

  int64_t streams() const noexcept override { return n_; }
  bool made_of_rows() const noexcept override { return begins_.empty() && inner().made_of_rows(); }
  element_spec spec() const override {
    return begins_.empty() ? inner().spec() : with_feature(inner().spec(), {begins_, dtype::boolean, {}});
  }
  const row_reader& source() const noexcept override { return begins_.empty() ? inner().source() : *this; }
  const lazy_fingerprint& fingerprint() const noexcept override { return inner().source().fingerprint(); }

  int64_t length(const reading& r) const override { return inner().length(r) / n_ * n_; }

  void locate(const reading& r, uint64_t epoch, int64_t first, int64_t count,
              std::vector<row_range>& out) const override {
    const int64_t stream_length = inner().length(r) / n_;
    for (int64_t j = first; j < first + count; ++j) {
      const size_t before = out.size();
      inner().locate(r, epoch, j % n_ * stream_length + j / n_, 1, out);
      for (size_t i = before; i < out.size(); ++i)
        out[i].begins = j < n_;
    }
  }

  /// No range belongs to two examples, since `locate` asks for each example by itself.
  expected<void> read_rows(std::span<const row_range> ranges, std::span<std::byte* const> into,
                           const std::stop_token& stop) const override {
    // The buffers of the other components. Reading a batch allocates no memory, so their list is on the stack unless
    // there are very many.
    std::array<std::byte, 64 * sizeof(std::byte*)> memory;
    std::pmr::monotonic_buffer_resource stack{memory.data(), memory.size()};
    std::pmr::vector<std::byte*> others{&stack};
    others.reserve(into.size());
    others.assign(into.begin(), into.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(place_));
    if (auto done = inner().source().read_rows(ranges, others, stop); !done)
      return done;
    std::byte* flag = into[place_];
    int64_t rest = 0;  // Rows of the example that are in later ranges.
    for (const row_range& r : ranges) {
      if (rest == 0) {
        *flag++ = std::byte{r.begins};
        rest = rows_per_example();
      }
      rest -= r.count;
    }
    return {};
  }

 protected:
  std::string stage_text(const reading*) const override { return text_of_streams(n_, begins_); }

 private:
  int64_t n_;
  std::string begins_;  ///< The name of the added feature; empty if there is none.
  size_t place_;        ///< Its index among the components.
};

}  // namespace

stage_ptr streams(stage_ptr inner, int64_t n, std::string begins) {
  const std::string text = text_of_streams(n, begins);
  if (auto no = refused(inner, text))
    return no;
  if (n < 1)
    return refuse(inner, text,
                  {errc::invalid_argument, "an epoch is divided into at least 1 stream, not " + std::to_string(n)});
  auto indexed = std::dynamic_pointer_cast<const row_stage>(inner);
  if (!indexed)
    return refuse(inner, text,
                  {errc::unimplemented,
                   "streams needs a source that can be read in any order, which " + inner->to_text() + " cannot"});
  if (indexed->batch_size() > 0)
    return refuse(inner, text,
                  {errc::invalid_argument,
                   text + " follows batch(" + std::to_string(indexed->batch_size()) + "): divide into streams first"});
  if (const int64_t earlier = indexed->streams(); earlier > 0)
    return refuse(inner, text, breaks_streams(text, earlier, "divide an epoch into streams once"));
  if (indexed->length({}) == endless)
    return refuse(
        inner, text,
        {errc::invalid_argument, "streams follows an endless repeat: divide into streams first, and repeat them"});
  if (begins.empty())
    return std::make_shared<streams_stage>(indexed, n, std::move(begins));
  if (auto named = check_name(begins, "the feature of streams"); !named)
    return refuse(inner, "streams", named.error());
  const auto components = inner->spec().components();
  if (std::any_of(components.begin(), components.end(), [&](const component& c) { return c.name == begins; }))
    return refuse(
        inner, text,
        {errc::invalid_argument, text + ": the dataset already has a component '" + begins + "': choose another name"});
  return std::make_shared<streams_stage>(indexed, n, std::move(begins));
}

}  // namespace troupe::input
