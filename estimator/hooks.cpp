#include "estimator/describe.hpp"
#include "words/text.hpp"

#include <troupe/hooks.hpp>
#include <troupe/step_timer.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>

namespace troupe {

namespace {

line_writer or_standard_output(line_writer write) {
  return write ? std::move(write) : [](const std::string& line) { std::cout << line << std::endl; };
}

expected<void> above_zero(std::string_view name, int64_t value) {
  if (value > 0)
    return {};
  return fail(errc::invalid_argument, std::string{name} + " must be above 0, not " + std::to_string(value));
}

/// "0.4321", "[0.1, 0.2]", "float32[28, 28]": only the shape if there are more than eight elements.
std::string value_text(const tensor& t) {
  const auto text_at = [&t](int64_t i) {
    const auto at = static_cast<size_t>(i);
    switch (t.type()) {
      case dtype::float32: return shortest_text(t.as<float>()[at]);
      case dtype::float64: return shortest_text(t.as<double>()[at]);
      case dtype::int32: return std::to_string(t.as<int32_t>()[at]);
      case dtype::int64: return std::to_string(t.as<int64_t>()[at]);
      default: return std::to_string(static_cast<int>(t.as<uint8_t>()[at]));
    }
  };
  if (t.dims().rank() == 0)
    return text_at(0);
  if (t.elements() > 8)
    return type_text(t.type(), t.dims());
  std::string all;
  for (int64_t i = 0; i < t.elements(); ++i)
    all += (i > 0 ? ", " : "") + text_at(i);
  return "[" + all + "]";
}

class value_log final : public hook {
 public:
  value_log(log_values_options options, step_timer timer) : options_(std::move(options)), timer_(std::move(timer)) {}

  needs begin(int64_t) override {
    timer_.reset();
    logged_.reset();
    needs all{.last = options_.at_end, .values = options_.values};
    if (const auto every = options_.every_secs ? std::optional{options_.look_every} : options_.every_steps)
      all.steps.push_back({.first = *every, .every = *every});
    return all;
  }
  void on_step(const step_facts& facts, job_control&) override {
    if (options_.every_secs && !timer_.due(facts.step, facts.seconds))
      kept_ = facts;  // For `end`: this may be the last step.
    else
      log(facts);
  }
  void end(int64_t step) override {
    if (options_.at_end && kept_ && kept_->step == step && logged_ != step)
      log(*kept_);
  }

 private:
  void log(const step_facts& facts) {
    std::string line = "step " + std::to_string(facts.step) + ":";
    const char* between = " ";
    for (const auto& [name, value] : facts.values) {
      line += between + name + " " + value_text(value);
      between = ", ";
    }
    if (logged_) {
      char seconds[32];
      std::snprintf(seconds, sizeof seconds, " (%.2f s)", facts.seconds - logged_at_);
      line += seconds;
    }
    timer_.trigger(facts.step, facts.seconds);
    logged_ = facts.step;
    logged_at_ = facts.seconds;
    options_.write(line);
  }

  log_values_options options_;
  step_timer timer_;
  std::optional<int64_t> logged_;
  std::optional<step_facts> kept_;
  double logged_at_ = 0;
};

class time_stop final : public hook {
 public:
  explicit time_stop(stop_at_time_options options) : options_(std::move(options)) {}
  needs begin(int64_t) override { return {.steps = {{.first = options_.look_every, .every = options_.look_every}}}; }
  void on_step(const step_facts&, job_control& job) override {
    if (options_.now() >= options_.at)
      job.stop();
  }

 private:
  stop_at_time_options options_;
};

class plateau final : public hook {
 public:
  explicit plateau(reduce_on_plateau_options options) : options_(std::move(options)) {}

  needs begin(int64_t step) override {
    forget_above(step);
    return {.holds = {.evaluated = true}};
  }
  void on_event(const job_event& e, job_control& job) override {
    if (e.what == job_event::kind::recovered)
      forget_above(e.step);
    if (e.what != job_event::kind::evaluated || e.evaluation != options_.goal.evaluation)
      return;
    const auto before = look_for_plateau(options_, options_.history);
    forget_above(e.step - 1);
    // Rounded to float32, as in event files: a later run of the job reads the values there and must come to the same
    // reductions.
    auto& point = options_.history.emplace_back(evaluation_point{e.step, {}});
    for (const auto& [name, value] : e.metrics)
      point.metrics.emplace(name, static_cast<double>(static_cast<float>(value)));
    const auto now = look_for_plateau(options_, options_.history);
    if (!now)
      throw std::runtime_error{to_text(now.error())};
    if (before && now->reductions > before->reductions)
      job.scale_rate(now->rate_factor / before->rate_factor);
  }

  const metric_goal& goal() const noexcept { return options_.goal; }

 private:
  void forget_above(int64_t step) {
    std::erase_if(options_.history, [step](const evaluation_point& p) { return p.step > step; });
  }

  reduce_on_plateau_options options_;
};

class progress_of_evaluation final : public hook {
 public:
  explicit progress_of_evaluation(line_writer write) : write_(std::move(write)) {}
  needs begin(int64_t) override { return {.steps = {{.first = 1, .every = 1}}}; }
  void on_event(const job_event& e, job_control&) override {
    if (e.what == job_event::kind::started)
      limit_ = e.max_steps;
  }
  void on_step(const step_facts& facts, job_control&) override {
    if (evaluation_progress_due(facts.step, limit_))
      write_("evaluated " + std::to_string(facts.step) + (limit_ ? " of " + std::to_string(*limit_) : "") + " batches");
  }

 private:
  line_writer write_;
  std::optional<int64_t> limit_;
};

}  // namespace

expected<std::shared_ptr<hook>> log_values(log_values_options options) {
  step_timer timer;
  if (options.every_steps || options.every_secs || !options.at_end) {
    auto made = step_timer::make(options.every_steps, options.every_secs);
    if (!made)
      return fail(made.error());
    timer = *made;
  }
  if (auto valid = above_zero("look_every", options.look_every); !valid)
    return fail(valid.error());
  options.write = or_standard_output(std::move(options.write));
  return std::make_shared<value_log>(std::move(options), std::move(timer));
}

expected<std::shared_ptr<hook>> stop_at_time(stop_at_time_options options) {
  if (auto valid = above_zero("look_every", options.look_every); !valid)
    return fail(valid.error());
  if (!options.now)
    options.now = [] { return std::chrono::system_clock::now(); };
  return std::make_shared<time_stop>(std::move(options));
}

std::optional<metric_goal> goal_of_plateau(const hook& h) {
  const auto* one = dynamic_cast<const plateau*>(&h);
  return one ? std::optional{one->goal()} : std::nullopt;
}

expected<plateau_state> look_for_plateau(const reduce_on_plateau_options& options, const evaluation_history& history) {
  plateau_state state;
  std::optional<double> best;
  int64_t without = 0, cooling = 0;
  for (const auto& point : history) {
    const auto found = point.metrics.find(options.goal.metric);
    if (found == point.metrics.end())
      return fail(errc::key_missing,
                  "reduce_on_plateau asks for the metric '" + options.goal.metric + "'; the evaluation of step "
                      + std::to_string(point.step) + " has "
                      + joined(point.metrics, ", ", [](const auto& m) { return std::string_view{m.first}; }));
    const double value = found->second;
    if (!best || options.goal.is_better(value, *best, options.min_delta)) {
      best = value;
      without = 0;
    } else {
      ++without;
    }
    if (cooling > 0) {
      --cooling;
      without = 0;
    }
    if (without <= options.patience)
      continue;
    without = 0;
    cooling = options.cooldown;
    if (const double reduced = std::max(state.rate_factor * options.factor, options.min_factor);
        reduced < state.rate_factor) {
      state.rate_factor = reduced;
      ++state.reductions;
    }
  }
  return state;
}

expected<std::shared_ptr<hook>> reduce_on_plateau(reduce_on_plateau_options options) {
  const auto refuse = [](std::string_view name, const std::string& must, double value) {
    return fail(errc::invalid_argument,
                "reduce_on_plateau: " + std::string{name} + " must be " + must + ", not " + shortest_text(value));
  };
  if (options.goal.metric.empty())
    return fail(errc::invalid_argument, "reduce_on_plateau: there is no metric");
  if (!(options.factor > 0 && options.factor < 1))
    return refuse("factor", "above 0 and below 1", options.factor);
  if (options.patience < 0)
    return refuse("patience", "at least 0", static_cast<double>(options.patience));
  if (options.cooldown < 0)
    return refuse("cooldown", "at least 0", static_cast<double>(options.cooldown));
  if (!(options.min_delta >= 0 && std::isfinite(options.min_delta)))
    return refuse("min_delta", "at least 0 and finite", options.min_delta);
  if (!(options.min_factor >= 0 && options.min_factor <= 1))
    return refuse("min_factor", "in [0, 1]", options.min_factor);
  return std::make_shared<plateau>(std::move(options));
}

bool evaluation_progress_due(int64_t batches, std::optional<int64_t> limit) noexcept {
  return !limit || *limit < 20 || batches == *limit || batches % (*limit / 10) == 0;
}

std::shared_ptr<hook> log_evaluation_progress(line_writer write) {
  return std::make_shared<progress_of_evaluation>(or_standard_output(std::move(write)));
}

}  // namespace troupe
