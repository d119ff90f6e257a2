// A step engine that forwards every call to another; tests and benchmarks override some.
#pragma once

#include "compute/engine/step_engine.hpp"

namespace troupe::test {

class wrapped_engine : public step_engine {
 public:
  explicit wrapped_engine(std::shared_ptr<step_engine> inner) : inner_(std::move(inner)) {}

  std::span<const component> inputs() const override { return inner_->inputs(); }
  std::span<const program_output> outputs() const override { return inner_->outputs(); }
  metric_functions metrics() const override { return inner_->metrics(); }
  std::vector<program_output> measured() const override { return inner_->measured(); }
  std::vector<tensor> take_measured() override { return inner_->take_measured(); }
  std::span<const component> exposed() const override { return inner_->exposed(); }
  step_status gradients(int64_t step, const batch_feeds& in, int arena) override {
    return inner_->gradients(step, in, arena);
  }
  step_status expose(int64_t step, const batch_feeds& in, int arena) override {
    return inner_->expose(step, in, arena);
  }
  tensor gradient() const override { return inner_->gradient(); }
  int64_t norm_chunks() const override { return inner_->norm_chunks(); }
  void share_squares(std::span<double> squares) override { inner_->share_squares(squares); }
  void measure(gradient_view sum) override { inner_->measure(sum); }
  void apply(int64_t step, const tensor& sum, int from, int to) override { inner_->apply(step, sum, from, to); }
  void scale_rate(double factor) override { inner_->scale_rate(factor); }
  void carry(int arena) override { inner_->carry(arena); }
  step_status evaluate(int64_t step, const batch_feeds& in, int arena) override {
    return inner_->evaluate(step, in, arena);
  }
  double loss() const override { return inner_->loss(); }
  std::vector<tensor> values() const override { return inner_->values(); }
  summary_recipes summaries() const override { return inner_->summaries(); }
  recorded_sets recorded(int arena) const override { return inner_->recorded(arena); }
  std::vector<observable> observables() const override { return inner_->observables(); }
  std::vector<std::vector<tensor>> observed() const override { return inner_->observed(); }
  error last_error() const override { return inner_->last_error(); }
  std::optional<numeric_fault> find_fault(int64_t step, const batch_feeds& in, int arena) override {
    return inner_->find_fault(step, in, arena);
  }
  bool finite(const tensor& sum) const override { return inner_->finite(sum); }
  std::vector<stored_piece> pieces(int arena) const override { return inner_->pieces(arena); }
  expected<tensor> variable(const std::string& name, int arena) const override { return inner_->variable(name, arena); }
  int arenas() const override { return inner_->arenas(); }
  void initialise(uint64_t seed) override { inner_->initialise(seed); }
  expected<void> assign(const std::string& name, int64_t first, const tensor& elements) override {
    return inner_->assign(name, first, elements);
  }

 private:
  std::shared_ptr<step_engine> inner_;
};

/// An engine that reports `not_finite` at the step `at`.
class broken_engine final : public wrapped_engine {
 public:
  broken_engine(std::shared_ptr<step_engine> inner, int64_t at) : wrapped_engine(std::move(inner)), at_(at) {}
  step_status gradients(int64_t step, const batch_feeds& in, int arena) override {
    return step == at_ ? step_status::not_finite : wrapped_engine::gradients(step, in, arena);
  }
  step_status expose(int64_t step, const batch_feeds& in, int arena) override {
    return step == at_ ? step_status::not_finite : wrapped_engine::expose(step, in, arena);
  }

 private:
  int64_t at_;
};

}  // namespace troupe::test
