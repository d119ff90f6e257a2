// A dataset and a model for tests of predictions. Batch s of four rows has x = 100 s + row and y = {s, row}, and the
// model returns both, so that a row that is missing, repeated or out of order shows.
#pragma once

#include "support/fake_source.hpp"

#include <troupe/model.hpp>

namespace troupe::test {

/// A dataset over a fake source, which records its reads.
class fake_stage final : public dataset_stage {
 public:
  explicit fake_stage(std::shared_ptr<fake_source> source) : source_(std::move(source)) {}
  element_spec spec() const override { return fake_iterator{source_}.spec(); }
  std::string to_text() const override { return "fake"; }
  std::optional<int64_t> source_size() const override { return {}; }
  std::optional<int64_t> elements(bool) const override { return {}; }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options&) const override {
    return opener(source_)();
  }

 private:
  std::shared_ptr<fake_source> source_;
};

inline std::shared_ptr<fake_source> fake_batches(int64_t batches, int64_t last_rows = 0) {
  auto source = std::make_shared<fake_source>();
  source->batches = batches;
  source->rows = 4;
  source->last_rows = last_rows;
  return source;
}
inline dataset dataset_over(std::shared_ptr<fake_source> source) {
  return dataset{std::make_shared<fake_stage>(std::move(source))};
}
/// x of every row of the first `batches` batches, in order.
inline std::vector<float> rows_of(const fake_source& source, int64_t batches) {
  std::vector<float> x;
  for (int64_t s = 0; s < batches; ++s)
    for (int64_t r = 0; r < (s + 1 == source.batches && source.last_rows > 0 ? source.last_rows : source.rows); ++r)
      x.push_back(static_cast<float>(100 * s + r));
  return x;
}

/// "scaled" is w · x, where the variable w begins as 1; "pair" is y, and "row" the second column of y. "place" is a
/// text for each "row".
inline model echo_model() {
  return {"echo",
          [](graph& g, const features& x, const labels& y, mode m) {
            const symbol w = g.variable({.name = "w", .dims = {1}, .initial = init::ones()});
            const symbol row = reshape(slice(y["y"], -1, 1, 1), {y["y"].dims()[0]});
            return model_spec{.mode = m,
                              .loss = reduce_mean(square(mul(x["x"], w) - x["x"])),
                              .optimizer = gradient_descent{},
                              .predictions = {{"scaled", mul(x["x"], w)}, {"pair", y["y"]}, {"row", row}}};
          },
          {{"place", {"row", {"first", "second", "third", "fourth"}}}}};
}

}  // namespace troupe::test
