#include "pipeline/random_faults/described_job.hpp"

#include "estimator/describe.hpp"
#include "pipeline/random_faults/group_job.hpp"
#include "pipeline/random_faults/watching_hook.hpp"
#include "support/small_job.hpp"

#include <troupe/host_call.hpp>
#include <troupe/input_function.hpp>

namespace troupe::test::random_faults {

namespace {

constexpr int64_t batch_rows = 24;

/// The small model with an observed value. A step computes the value only if a hook requests it.
model observed_model() {
  auto source = small_model();
  source.build = [inner = source.build](graph& g, const features& x, const labels& y, mode m) {
    g.observe(watching_hook::observed, reduce_mean(x["x"]));
    return inner(g, x, y, m);
  };
  return source;
}

/// The same with two states: what each row has seen so far, and the steps of a loop.
model carrying_model() {
  auto source = observed_model();
  source.build = [inner = source.build](graph& g, const features& x, const labels& y, mode m) {
    const auto batch = x["x"].dims().front();
    const auto memory = g.state({.name = "memory", .dims = {batch, 8}});
    const auto steps = g.state(
        {.name = "steps", .dims = {batch}, .initial = init::constant(3), .lasts = lifetime::loop});
    g.carry(memory, 0.5f * memory + x["x"]);
    g.carry(steps, steps + 1);
    return inner(g, x, y, m);
  };
  return source;
}

/// The same as `inner`, which gives the rows of each step to a host call.
model calling_model(const model& inner, int64_t every, std::shared_ptr<std::vector<given_call>> given) {
  auto source = inner;
  source.build = [build = inner.build, every](graph& g, const features& x, const labels& y, mode m) {
    g.host_call({.name = "given", .tensors = {{"x", x["x"]}}, .every = every});
    return build(g, x, y, m);
  };
  source.host_calls["given"] = [given = std::move(given)](host_call_step& step) {
    const auto x = step["x"].as<float>();
    if (given && step.mode() == mode::train)
      given->push_back({step.step(), {x.begin(), x.end()}});
  };
  return source;
}

}  // namespace

static dataset data_in_batches(const recipe& r, int64_t rows) {
  static const dataset endless = small_dataset(7 * batch_rows + 5).shuffle();
  return r.batches ? small_dataset(*r.batches * batch_rows).shuffle().batch(rows) : endless.batch(rows).repeat();
}

static int64_t rows_of_step(const recipe& r) { return batch_rows * r.hosts; }

dataset data_of(const recipe& r) {
  return data_in_batches(r, r.input_mode == input_mode::sliced        ? rows_of_step(r)
                            : r.input_mode == input_mode::per_replica ? rows_of_step(r) / r.replicas
                                                                      : batch_rows);
}

/// The same rows in each step, in the batches that the inputs of its mode read.
static dataset input_of(const recipe& r) {
  return r.input_mode == input_mode::per_core ? data_in_batches(r, rows_of_step(r) / r.replicas) : data_of(r);
}

dataset troubled_input_of(const recipe& r, std::shared_ptr<input_troubles> troubles) {
  if (!r.input_function)
    return troubled(input_of(r), std::move(troubles), false);
  return from_input_function({.batch_size = rows_of_step(r)}, [r, troubles](const input_context& c) {
    const auto& at = c.deployment;
    return troubled(data_in_batches(r, c.batch_size).shard(at.total, at.index), troubles, false,
                    static_cast<int32_t>(at.index));
  });
}

std::vector<exporter> exporters_of(const recipe& r) {
  return {{.name = "latest", .exports_to_keep = r.exports_kept},
          {.name = "best", .rule = export_rule::best, .exports_to_keep = r.exports_kept},
          {.name = "final", .rule = export_rule::final}};
}

training_job describe(const recipe& r, std::shared_ptr<file_system> files,
                      std::shared_ptr<std::vector<given_call>> given) {
  static const auto of_one = std::make_shared<const model>(observed_model()),
                    carrying = std::make_shared<const model>(carrying_model()),
                    of_groups = std::make_shared<const model>(evaluated_candidate());
  const auto& source = r.groups ? of_groups : r.carries ? carrying : of_one;
  auto d = describe_small({.max_steps = r.max_steps,
                           .save_steps = r.save_steps,
                           .save_secs = r.save_secs,
                           .replicas = r.groups ? r.groups->replicas : r.replicas,
                           .hosts = r.hosts,
                           .reducers = r.reducers,
                           .shards = r.shards,
                           .input = input_of(r),
                           .files = std::move(files),
                           .keeps = r.keeps,
                           .recovers = r.recovers});
  d.basis.source = r.calls_every > 0
                       ? std::make_shared<const model>(calling_model(*source, r.calls_every, std::move(given)))
                       : source;
  auto& config = d.basis.config;
  config.keep_checkpoint_max = static_cast<int32_t>(r.keep_max);
  config.summary_steps = r.keeps ? r.summary_steps : 0;
  config.log_steps = r.log_steps;
  config.input_mode = r.input_mode;
  config.loop = r.loop > 0 ? loop_length{r.loop} : loop_length{std::chrono::seconds{1}};
  if (r.evaluates) {
    d.evaluations = {{.data = small_evaluation(), .throttle_secs = r.throttle_secs, .when = r.when}};
    d.evaluations.front().data.steps = r.eval_steps;
    d.evaluations.front().data.hosts = r.eval_hosts;
    d.evaluations.front().data.replicas = r.eval_replicas;
    if (r.eval_every > 0)
      d.evaluations.front().every_steps = r.eval_every;
    if (r.exports_kept > 0) {
      const eval_spec spec{.input = small_evaluation().input, .exporters = exporters_of(r)};
      d.evaluations.front().exports = exporting_of({*source, {.model_dir = "/run", .seed = 7}}, spec);
      d.evaluations.front().exports_at_end = true;
    }
  }
  return d;
}

std::shared_ptr<prepared_job> prepared(const recipe& r, training_job d) {
  if (r.groups)
    return prepared_groups(r, std::move(d));
  auto job = prepare(std::move(d));
  if (!job)
    throw std::runtime_error("a recipe that cannot be prepared: " + to_text(job.error()));
  return *job;
}

}  // namespace troupe::test::random_faults
