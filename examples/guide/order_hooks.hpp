// A model that observes a value, and hooks of one's own: docs/guide/hooks.md shows them, docs/guide/test.md tests them.
#pragma once

#include <troupe/troupe.hpp>

#include <iostream>

namespace tr = troupe;

/// Two layers on the numbers of an order; late or not is a class of two.
inline tr::model_spec late_orders(tr::graph& g, const tr::features& order, const tr::labels& late, tr::mode mode) {
  const auto column = [&](const char* name) { return tr::expand_dims(order[name], 1); };
  const auto numbers = tr::concat({column("amount"), column("hour"), column("visits")});
  const auto hidden = tr::nn::dense(numbers, {.units = 16, .activation = tr::relu});
  g.observe("hidden_mean", tr::reduce_mean(hidden));  // A hook may ask for it by this name.
  const auto logits = tr::nn::dense(hidden, {.units = 2});
  return tr::multi_class_head{.classes = 2}.spec(
      g, {.mode = mode, .logits = logits, .labels = late, .optimizer = tr::adam{.rate = 0.003f}});
}

// watch begins
/// Prints two values of every hundredth step. Training does not wait for it.
struct print_values : tr::hook {
  tr::needs begin(int64_t) override { return {.steps = {{.first = 100, .every = 100}}, .values = {"hidden_mean"}}; }
  void on_step(const tr::step_facts& facts, tr::job_control&) override {
    if (facts.values.empty())
      return;  // The state where the job starts: none of its steps led there.
    const auto number = [&](const char* name) { return facts.values.at(name).as<float>()[0]; };
    std::cout << "step " << facts.step << ": loss " << number("loss") << ", hidden_mean " << number("hidden_mean")
              << std::endl;
  }
};
// watch ends

// gate begins
/// Multiplies the learning rate by 0.1 from state 200 on. Nothing runs past that state before on_step has returned.
struct cool_down : tr::hook {
  tr::needs begin(int64_t) override { return {.steps = {{.first = 200, .gate = true}}}; }
  void on_step(const tr::step_facts&, tr::job_control& job) override { job.scale_rate(0.1); }
};
// gate ends

// hold begins
/// Ends the job at the first evaluated state whose accuracy is at least `target`.
struct stop_at_target : tr::hook {
  explicit stop_at_target(double accuracy) : target(accuracy) {}
  tr::needs begin(int64_t) override { return {.holds = {.evaluated = true}}; }
  void on_event(const tr::job_event& event, tr::job_control& job) override {
    if (event.what == tr::job_event::kind::evaluated && event.metrics.at("accuracy") >= target)
      job.stop();
  }
  const double target;
};
// hold ends

// events begins
/// Prints what happens to the job.
struct print_events : tr::hook {
  void on_event(const tr::job_event& event, tr::job_control&) override {
    if (event.what != tr::job_event::kind::progress)
      std::cout << to_text(event) << std::endl;  // A line for people.
  }
  void on_abort(const tr::error& cause) override { std::cout << "failed: " << cause.message << std::endl; }
};
// events ends

// listener begins
/// Takes part in every save.
struct name_saves : tr::saving_listener {
  answer after_save(int64_t step, const std::string& prefix) override {
    std::cout << "checkpoint of step " << step << ": " << prefix << std::endl;
    return answer::go_on;  // Or stop: the job then ends at exactly this state.
  }
};
// listener ends
