// Host calls: functions of yours on tensors of a step, while a model trains, is evaluated or predicts.
// Not needed to begin with.
//
//   g.host_call({.name = "bits", .tensors = {{"loss", losses_of_rows}}, .every = 10});  // In the model function.
//
//   m.host_calls["bits"] = [](tr::host_call_step& step) {  // In the model.
//     step.scalar("bits", mean_of(step["loss"].as<float>()) / std::numbers::ln2);
//   };
//
// Steps do not wait for a call: its tensors are copied to the outfeed, which runs the calls of each step in the order
// in which the model made them, one step after the other. While calls are slower than steps, steps wait.
#pragma once

#include <troupe/model.hpp>
#include <troupe/summary.hpp>

namespace troupe {

/// The most host calls of one model in one mode.
inline constexpr size_t host_calls_max = 30;

/// What a model gives to one of its functions (`model::host_calls`). It does not change the arithmetic of a step.
/// Errors of the graph: no name, or a repeated one; no tensors, or one of rank 0; `every` below 1; too many calls. A
/// model without a function of that name is refused.
struct host_call_options {
  std::string name = {};  ///< Of the function. Unique in the graph; scopes do not change it.
  /// By the names by which the function asks for them. Of any dtype; axis 0 is that along which gradient shards and
  /// replicas are joined, so a tensor has one.
  std::map<std::string, symbol> tensors = {};
  /// The function is called for steps whose number, counted from 0 in each loop (`run_config::steps_per_loop`), is a
  /// multiple of this. Other steps do not compute what only the call needs.
  int64_t every = 1;
};

/// What a function sees of one step. Valid during the call.
///
/// A function (`host_call_function`) is called by the thread of an outfeed, one call at a time in the order of the
/// steps: for every step that is applied, before anyone is told of it, and again if a job that failed or was killed
/// makes the step again. Training and each evaluation or prediction have an outfeed of their own: a function that
/// several of them call, beside each other, must be safe for that. An exception ends a training after a last save, and
/// an evaluation or a prediction at once; the error names the call and the step.
class TROUPE_API host_call_step {
 public:
  host_call_step(std::string call, troupe::mode what, int64_t step, std::map<std::string, tensor> tensors);

  const std::string& call() const noexcept { return call_; }  ///< The name of the host call.
  troupe::mode mode() const noexcept { return mode_; }
  /// In training the state that the step led to, as in event files; else the number of batches, this one included.
  int64_t step() const noexcept { return step_; }
  /// The values of all rows of the step: on axis 0, those of the gradient shards and replicas in their order. A tensor
  /// [1] has one element for each shard. Throws std::out_of_range, which lists the names that there are.
  const tensor& operator[](std::string_view name) const;
  const std::map<std::string, tensor>& tensors() const noexcept { return tensors_; }

  // Summaries of the step, below the model's own in its event file. Only training has one: elsewhere, and in a job
  // without summaries, they are dropped. They throw std::invalid_argument where `graph::scalar` and its like refuse.

  void scalar(std::string tag, double value);
  /// The distribution of the elements, float32 or float64.
  void histogram(std::string tag, const tensor& values);
  /// One image [height, width, 1, 3 or 4], uint8.
  void image(std::string tag, tensor pixels);
  void text(std::string tag, std::string text);
  /// What was recorded so far.
  const std::vector<summary_value>& summaries() const noexcept { return summaries_; }

 private:
  summary_value& add(std::string tag, summary_value::kind what);

  std::string call_;
  troupe::mode mode_;
  int64_t step_;
  std::map<std::string, tensor> tensors_;
  std::vector<summary_value> summaries_;
};

}  // namespace troupe
