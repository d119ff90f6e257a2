// A job that grows. Until state 20: two candidates and a mixture. From there on: the winner, frozen and retired, two
// new candidates and a mixture of all three. All are trained by momentum, whose update does not depend on the number of
// the step.
#pragma once

#include "compute/graph/graph.hpp"
#include "support/plans.hpp"
#include "support/simulated_job.hpp"

namespace troupe::test {

struct growing_options {
  small_job_options o{.max_steps = 40, .recovers = 5};
  int64_t grows_at = 20;
  std::function<void(int64_t iteration)> on_plan = {};  ///< Called by the planner.
  std::function<void(hand_written&, int64_t iteration)> edit = {};
};

/// A mixture that learns a weight for each of the named candidates.
inline model mixture_of(std::vector<std::string> names) {
  return {"mixture", [names = std::move(names)](graph& g, const features& x, const labels& y, mode m) {
            const auto scope = g.scope("mixture");
            std::optional<symbol> sum;
            for (const auto& name : names) {
              const auto part = mul(x[name], g.variable({.name = name, .dims = {3}, .initial = init::ones()}));
              sum = sum ? add(*sum, part) : part;
            }
            return multi_class_head{.classes = 3}.spec(
                g, {.mode = m, .logits = *sum, .labels = y.only(), .optimizer = momentum{.rate = 0.05f}});
          }};
}

/// The same model, with no variable trainable.
inline model frozen(const model& from) {
  return {from.name, [f = from.build](graph& g, const features& x, const labels& y, mode m) {
            auto spec = f(g, x, y, m);
            for (auto& v : contents_of(g).variables)
              v.options.trainable = false;
            return spec;
          }};
}

inline hand_written plan_of_iteration(const growing_options& j, int64_t iteration) {
  hand_written w;
  const std::vector<std::string> names = iteration == 0 ? std::vector<std::string>{"a", "b"}
                                                        : std::vector<std::string>{"a", "c", "d"};
  const auto mixture = w.group("mixture");
  const auto mixes = w.program(mixture_of(names), mixture);
  const auto feed = w.infeed("feed", w.data(j.o.input));
  std::vector<std::string> ports{"data"};
  ports.insert(ports.end(), names.begin(), names.end());
  const auto replicas = static_cast<int32_t>(j.o.replicas);
  const auto how = replicas > 1 ? divide::split : divide::broadcast;
  std::vector<node_id> mixers;
  for (int32_t r = 0; r < replicas; ++r) {
    mixers.push_back(w.replica("mixture/replica/" + std::to_string(r), mixes, r, ports));
    w.edge(feed, "data", mixers.back(), "data", how);
  }
  for (const auto& name : names) {
    const auto group = w.group(name);
    const bool kept = iteration > 0 && name == "a";
    const auto whole = candidate(name, name == "a" ? 5 : 7);
    const auto runs = w.program(kept ? frozen(whole) : whole, group);
    if (kept)
      w.plan.groups.back().retires_at = j.grows_at;
    for (int32_t r = 0; r < replicas; ++r) {
      const auto worker = w.replica(name + "/replica/" + std::to_string(r), runs, r, {"data"}, {"logits"});
      w.edge(feed, "data", worker, "data", how);
      w.edge(worker, "logits", mixers[static_cast<size_t>(r)], name);
    }
  }
  if (replicas > 1 && j.o.reducers)
    for (const auto& g : w.plan.groups)
      w.reducer(g.name + "/reducer", g.id);
  if (j.o.evaluates)
    w.evaluation("", candidate("a", 5), w.plan.groups[1].id, small_evaluation().input);
  w.node(role::callbacks, "callbacks");
  w.node(role::summary_writer, "summary_writer");
  w.plan.iteration = iteration == 0 ? plan_iteration{.ends_at = j.grows_at}
                                    : plan_iteration{.number = 1, .begins_at = j.grows_at};
  if (j.edit)
    j.edit(w, iteration);
  w.finish();
  return w;
}

inline planned_job planned_iteration(const growing_options& j, const job_books& books) {
  const auto iteration = books && (books->id.iteration == 1 || books->id.step >= j.grows_at) ? 1 : 0;
  if (j.on_plan)
    j.on_plan(iteration);
  auto w = plan_of_iteration(j, iteration);
  planned_job made{std::move(w.plan), std::move(w.resources)};
  if (iteration > 0)
    made.growth = {.fresh = {"c/", "d/", "mixture/c", "mixture/c/"},
                   .dropped = {"b/", "a/dense/kernel/Momentum", "a/dense/bias/Momentum", "a/dense_1/kernel/Momentum",
                               "a/dense_1/bias/Momentum"},
                   .renamed = {{"mixture/d", "mixture/b"}, {"mixture/d/", "mixture/b/"}}};
  return made;
}

inline training_job growing_job(const growing_options& j) {
  auto job = describe_small(j.o);
  job.basis.config.summary_steps = 4;
  job.basis.config.keep_checkpoint_max = 0;
  job.planner = [j](const job_books& books) -> expected<planned_job> { return planned_iteration(j, books); };
  return job;
}

inline std::shared_ptr<prepared_job> prepare_growing(const growing_options& j = {}) {
  auto made = prepare(growing_job(j));
  if (!made)
    throw std::runtime_error(to_text(made.error()));
  return *made;
}

}  // namespace troupe::test
