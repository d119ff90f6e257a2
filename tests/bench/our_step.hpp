// Our training step for a measured model: the planned program in a bare loop over batches in memory.
#pragma once

#include "compute/kernels/denormals.hpp"
#include "compute/program/program.hpp"
#include "tests/bench/models.hpp"

#include <cstdlib>
#include <memory>
#include <vector>

namespace troupe::bench {

/// The value of `x`; on an error, prints it and ends the benchmark.
template <class T>
T must(expected<T> x) {
  if (!x) {
    std::fprintf(stderr, "%s\n", to_text(x.error()).c_str());
    std::abort();
  }
  return std::move(*x);
}

/// Aligned batches of made-up numbers: pixels in [0, 1), classes and characters in [0, classes).
class batches {
 public:
  static constexpr size_t count = 16;

  batches(std::span<const component> inputs, int64_t rows, int64_t classes) {
    uint32_t state = 1;
    const auto next = [&state] { return (state = state * 1664525 + 1013904223) >> 8; };
    for (size_t b = 0; b < count; ++b)
      for (const component& c : inputs) {
        const int64_t n = rows * c.dims.elements();
        const auto& bytes = buffers_.emplace_back(allocate_buffer(n * 4));
        if (c.type == dtype::float32)
          std::generate_n(reinterpret_cast<float*>(bytes.get()), n,
                          [&] { return static_cast<float>(next()) * 0x1p-24f; });
        else
          std::generate_n(reinterpret_cast<int32_t*>(bytes.get()), n,
                          [&] { return static_cast<int32_t>(next() % static_cast<uint32_t>(classes)); });
        pointers_.push_back(bytes.get());
      }
  }
  /// The feeds of one step: "x", then "y", the order in which the models create their placeholders.
  std::span<const std::byte* const> of_step(int64_t step) const {
    const size_t components = pointers_.size() / count;
    return std::span{pointers_}.subspan(static_cast<size_t>(step) % count * components, components);
  }
  const float* pixels(int64_t step) const { return reinterpret_cast<const float*>(of_step(step)[0]); }
  const int32_t* labels(int64_t step) const { return reinterpret_cast<const int32_t*>(of_step(step)[1]); }

 private:
  std::vector<std::shared_ptr<std::byte>> buffers_;
  std::vector<const std::byte*> pointers_;
};

class our_step {
 public:
  our_step(const measured_model& m, const optimizer& o, int threads = 1) : rows_(m.batch) {
    const model_spec spec = m.build(graph_, o);
    layout_ = must(parameter_layout::of(graph_, spec.optimizer));
    store_ = must(parameter_store::create(layout_, 1));
    store_->initialise(1);
    program_ = must(program::make(
        graph_, spec, layout_, {.batch = m.batch, .pool = threads > 1 ? must(thread_pool::start(threads)) : nullptr}));
    gradient_ = allocate_buffer(layout_.gradient_bytes());
    std::fill_n(gradient_.get(), layout_.gradient_bytes(), std::byte{0});  // Sparse gradients need zeros.
    data_ = std::make_unique<batches>(program_->inputs(), m.batch, m.classes);
  }

  void run(int64_t steps) {
    const std::pair<int64_t, int64_t> whole{0, layout_.gradient_bytes()};
    step_input in{.step = step_, .parameters = store_->arena(0), .shared = store_->shared()};
    for (const int64_t end = step_ + steps; in.step < end; ++in.step) {
      in.feeds = data_->of_step(in.step);
      if (program_->gradients(in, gradient_.get()) != step_status::ok
          || !program_->is_finite(layout_, whole, gradient_.get()))
        std::abort();
      program_->apply(in.step, whole, gradient_.get(), store_->arena(0), store_->arena(0));
    }
    step_ = in.step;
  }

  double loss() const { return program_->loss(); }
  std::span<const component> inputs() const { return program_->inputs(); }
  int64_t rows() const { return rows_; }
  int64_t flops() const { return program_->flops(); }
  std::string to_text() const { return program_->to_text(); }
  const batches& data() const { return *data_; }
  /// The names of the trainable variables in the order of their creation, and their current values.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const int32_t i : trainable())
      all.push_back(layout_.entries()[static_cast<size_t>(i)].name);
    return all;
  }
  std::vector<tensor> values() const {
    std::vector<tensor> all;
    for (const int32_t i : trainable())
      all.push_back(store_->view(0, i));
    return all;
  }

 private:
  std::vector<int32_t> trainable() const {
    std::vector<int32_t> all;
    for (size_t i = 0; i < layout_.entries().size(); ++i)
      if (layout_.entries()[i].trainable)
        all.push_back(static_cast<int32_t>(i));
    return all;
  }

  int64_t rows_;
  graph graph_;
  parameter_layout layout_;
  std::shared_ptr<parameter_store> store_;
  std::unique_ptr<program> program_;
  std::shared_ptr<std::byte> gradient_;
  std::unique_ptr<batches> data_;
  int64_t step_ = 0;
};

}  // namespace troupe::bench
