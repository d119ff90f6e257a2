// A step engine small enough to compute by hand. Its state is a few numbers; every update depends on the step, on every
// row fed and on the state before, so that a step that is missing, repeated or out of order shows.
#pragma once

#include "compute/engine/step_engine.hpp"

#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

namespace troupe::test {

/// The memory of all toy engines of one job: two arenas of `width` float32, divided evenly among the replicas.
struct toy_memory {
  explicit toy_memory(int64_t width_ = 4) : width(width_) {
    for (auto& a : arena) {
      a = std::shared_ptr<float>(new float[static_cast<size_t>(width)], std::default_delete<float[]>());
      std::fill_n(a.get(), width, 1.0f);
    }
  }
  int64_t width;
  std::shared_ptr<float> arena[2];
};

class toy_engine final : public step_engine {
 public:
  explicit toy_engine(std::shared_ptr<toy_memory> memory, int replica = 0, int replicas = 1)
    : memory_(std::move(memory)), replica_(replica), replicas_(replicas) {}

  /// Called before each step; the step has the status that it returns.
  std::function<step_status(int64_t step)> before_step = [](int64_t) { return step_status::ok; };
  std::vector<int64_t> computed;  ///< Steps whose gradients were computed.
  std::vector<int64_t> forward;   ///< Steps for which only the outputs were computed.
  std::vector<int64_t> told_to_record;
  std::vector<int64_t> applied;
  int64_t carried = 0;                                      ///< How often it was told to carry.
  std::vector<std::pair<int64_t, int>> searched;            ///< Steps and arenas with which `find_fault` was called.
  std::optional<numeric_fault> fault;                       ///< The result of `find_fault`.
  error trouble{errc::nan_loss, "the loss is not finite"};  ///< The result of `last_error`.

  std::span<const component> inputs() const override { return shape_; }
  std::span<const program_output> outputs() const override { return outputs_; }
  std::span<const component> exposed() const override { return shown; }
  /// The output of `exposed`, at most one: for each row a float, the feed of the last port plus state[0].
  std::vector<component> shown;
  std::vector<const std::byte*> fed;  ///< The components of the last batch.
  host_call_forms asked;              ///< The result of `calls`; each call has one tensor, [1]: the loss.

  step_status gradients(int64_t step, const batch_feeds& in, int arena) override {
    computed.push_back(step);
    return compute(step, in, arena);
  }
  step_status expose(int64_t step, const batch_feeds& in, int arena) override {
    forward.push_back(step);
    return compute(step, in, arena);
  }
  step_status compute(int64_t step, const batch_feeds& in, int arena) {
    fed.assign(in.components.begin(), in.components.end());
    if (in.record)
      told_to_record.push_back(step);
    if (const auto trouble = before_step(step); trouble != step_status::ok)
      return trouble;
    const auto* x = reinterpret_cast<const float*>(in.components[0]);
    const float* state = memory_->arena[arena].get();
    // The sum over the slices of all replicas.
    const auto folded = static_cast<int64_t>(std::accumulate(state, state + memory_->width, 0.0f)) % 4;
    const float fed = std::accumulate(x, x + in.rows, 0.0f);
    loss_ = static_cast<double>(fed + state[0]);
    if (!in.exposed.empty())
      for (int64_t row = 0; row < in.rows; ++row)
        reinterpret_cast<float*>(in.exposed[0])[row] = reinterpret_cast<const float*>(in.components.back())[row]
                                                       + state[0];
    called_.clear();
    for (size_t c = 0; c < asked.size(); ++c)
      if ((in.calls & (call_set{1} << c)) != 0)
        called_.push_back(tensor::of<float>({1}, {static_cast<float>(loss_)}));
    sum_ = fed + static_cast<float>(in.rows * folded);  // Small integers, so that sums do not depend on their order.
    gradient_ = tensor::zeros(dtype::uint8, {64});  // Bytes whose number is a multiple of 64, as in program engines.
    std::memcpy(const_cast<std::byte*>(gradient_.data()), &sum_, sizeof sum_);
    return step_status::ok;
  }
  tensor gradient() const override { return gradient_; }
  void apply(int64_t step, const tensor& sum, int from, int to) override {
    applied.push_back(step);
    const auto [first, last] = slice();
    for (int64_t i = first; i < last; ++i)
      memory_->arena[to].get()[i] = memory_->arena[from].get()[i] * 0.5f + value(sum) + static_cast<float>(step + i);
  }
  void carry(int) override { ++carried; }
  step_status evaluate(int64_t step, const batch_feeds& in, int arena) override { return gradients(step, in, arena); }
  double loss() const override { return loss_; }
  std::vector<tensor> values() const override { return {tensor::scalar(static_cast<float>(loss_))}; }
  summary_recipes summaries() const override { return {{{summary_value::kind::scalar, "toy/sum", {}}}, {}}; }
  recorded_sets recorded(int) const override { return {{{0, tensor::scalar(sum_)}}}; }
  const host_call_forms& calls() const override { return asked; }
  call_entry take_called() override { return std::exchange(called_, {}); }
  error last_error() const override { return trouble; }
  std::optional<numeric_fault> find_fault(int64_t step, const batch_feeds&, int arena) override {
    searched.emplace_back(step, arena);
    return fault;
  }
  bool finite(const tensor& sum) const override { return std::isfinite(value(sum)); }
  std::vector<stored_piece> pieces(int arena) const override {
    const auto [first, last] = slice();
    std::shared_ptr<const std::byte> at{memory_->arena[arena],
                                        reinterpret_cast<const std::byte*>(memory_->arena[arena].get() + first)};
    return {{"toy/state", {memory_->width}, first, true, tensor{dtype::float32, {last - first}, at}}};
  }
  expected<tensor> variable(const std::string& name, int arena) const override {
    if (name != "toy/state")
      return fail(errc::not_found, "no variable named '" + name + "'");
    return tensor::of<float>({memory_->width}, {memory_->arena[arena].get(), static_cast<size_t>(memory_->width)});
  }
  int arenas() const override { return arena_count; }
  int arena_count = 2;
  void initialise(uint64_t seed) override {
    std::fill_n(memory_->arena[0].get(), memory_->width, static_cast<float>(seed));
  }
  expected<void> assign(const std::string& name, int64_t first, const tensor& elements) override {
    if (name != "toy/state")
      return fail(errc::not_found, "no variable named '" + name + "'");
    std::copy_n(elements.as<float>().begin(), elements.elements(), memory_->arena[0].get() + first);
    return {};
  }

 private:
  static float value(const tensor& sum) { return *reinterpret_cast<const float*>(sum.data()); }
  std::pair<int64_t, int64_t> slice() const {
    return {memory_->width * replica_ / replicas_, memory_->width * (replica_ + 1) / replicas_};
  }
  std::shared_ptr<toy_memory> memory_;
  int replica_, replicas_;
  std::vector<component> shape_{{"x", dtype::float32, {}}};
  std::vector<program_output> outputs_{{}};  // The loss.
  tensor gradient_;
  call_entry called_;
  float sum_ = 0;
  double loss_ = 0;
};

}  // namespace troupe::test
