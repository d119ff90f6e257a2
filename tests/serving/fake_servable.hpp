// Models for tests: y = 2 x, with the words "even" and "odd". They refuse negative x, count calls and rows, and run
// `during_call` in each call.
#pragma once

#include "serving/served_versions.hpp"

#include <atomic>
#include <functional>
#include <set>

namespace troupe::test {

struct fake_facts {
  std::atomic<int64_t> calls{0}, rows{0}, living{0};
  std::function<void()> during_call = {};  ///< Set before the first call.
  std::string remark = {};                 ///< The remark of models opened from now on.
};

/// Has two signatures. "serving_default": x float32[2] -> y float32[2], parity int64[], parity_word. "sum": a int64[],
/// b int64[2, 2] -> total int64[].
class fake_servable final : public servable {
 public:
  explicit fake_servable(std::shared_ptr<fake_facts> facts, float factor = 2)
    : facts_(std::move(facts)), factor_(factor) {
    ++facts_->living;
    signatures_["serving_default"] = {.inputs = {{"x", dtype::float32, {2}}},
                                      .outputs = {{"y", dtype::float32, {2}}, {"parity", dtype::int64, {}}},
                                      .words = {{"parity_word", 1, {"even", "odd"}}}};
    signatures_["sum"] = {.inputs = {{"a", dtype::int64, {}}, {"b", dtype::int64, {2, 2}}},
                          .outputs = {{"total", dtype::int64, {}}},
                          .rows_apart = false};
  }
  ~fake_servable() override { --facts_->living; }

  const served_signatures& signatures() const noexcept override { return signatures_; }
  std::string remark() const override { return facts_->remark; }
  expected<std::unique_ptr<servable_caller>> caller(const std::string& signature) const override {
    return std::make_unique<fake_caller>(facts_, signature == "sum", factor_);
  }

 private:
  class fake_caller final : public servable_caller {
   public:
    fake_caller(std::shared_ptr<fake_facts> facts, bool sums, float factor)
      : facts_(std::move(facts)), sums_(sums), factor_(factor) {}
    expected<std::vector<tensor>> call(std::span<const tensor> inputs) override {
      const int64_t rows = inputs[0].dims()[0];
      ++facts_->calls;
      facts_->rows += rows;
      if (facts_->during_call)
        facts_->during_call();
      return sums_ ? sum(inputs, rows) : scale(inputs, rows);
    }

   private:
    expected<std::vector<tensor>> scale(std::span<const tensor> inputs, int64_t rows) const {
      std::vector<float> y;
      std::vector<int64_t> parity;
      for (const float x : inputs[0].as<float>()) {
        if (x < 0)
          return fail(errc::invalid_argument, "x must not be below 0");
        y.push_back(factor_ * x);
      }
      for (int64_t i = 0; i < rows; ++i)
        parity.push_back(static_cast<int64_t>(inputs[0].as<float>()[static_cast<size_t>(2 * i)]) % 2);
      return std::vector{tensor::of<float>({rows, 2}, std::span<const float>{y}),
                         tensor::of<int64_t>({rows}, std::span<const int64_t>{parity})};
    }
    static expected<std::vector<tensor>> sum(std::span<const tensor> inputs, int64_t rows) {
      std::vector<int64_t> totals;
      for (size_t i = 0; i < static_cast<size_t>(rows); ++i) {
        totals.push_back(inputs[0].as<int64_t>()[i]);
        for (size_t j = 0; j < 4; ++j)
          totals.back() += inputs[1].as<int64_t>()[4 * i + j];
      }
      return std::vector{tensor::of<int64_t>({rows}, std::span<const int64_t>{totals})};
    }
    std::shared_ptr<fake_facts> facts_;
    bool sums_;
    float factor_;
  };

  std::shared_ptr<fake_facts> facts_;
  float factor_;
  served_signatures signatures_;
};

/// The factor of each version, by number. The versions in `broken` cannot be opened.
struct fake_exports {
  std::mutex guard;
  std::map<int64_t, float> factors;
  std::set<int64_t> broken;
  std::optional<error> unlisted = {};  ///< What listing the versions fails with.
  int64_t opened = 0;                  ///< Calls of `open`, including those that failed.
  std::shared_ptr<fake_facts> facts = std::make_shared<fake_facts>();
};

class fake_source final : public version_source {
 public:
  explicit fake_source(std::shared_ptr<fake_exports> exports) : exports_(std::move(exports)) {}
  expected<std::vector<int64_t>> list() override {
    const std::lock_guard held{exports_->guard};
    if (exports_->unlisted)
      return fail(*exports_->unlisted);
    std::vector<int64_t> numbers;
    for (const auto& [number, factor] : exports_->factors)
      numbers.push_back(number);
    return numbers;
  }
  expected<std::shared_ptr<const servable>> open(int64_t number) override {
    const std::lock_guard held{exports_->guard};
    ++exports_->opened;
    if (exports_->broken.contains(number))
      return fail(errc::data_loss, "export " + std::to_string(number) + " is damaged");
    return std::make_shared<const fake_servable>(exports_->facts, exports_->factors.at(number));
  }

 private:
  std::shared_ptr<fake_exports> exports_;
};

}  // namespace troupe::test
