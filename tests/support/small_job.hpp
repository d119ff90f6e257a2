// A whole training job, small enough to simulate thousands of times: 8 numbers in, 3 classes out, a few kilobytes of
// state, on a disk in memory.
#pragma once

#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/files/memory_file_system.hpp"
#include "tests/support/checkpoint_ids.hpp"
#include "tests/support/simulated_job.hpp"

#include <troupe/dataset_iterator.hpp>
#include <troupe/heads.hpp>
#include <troupe/nn.hpp>

namespace troupe::test {

/// `examples` rows of 8 pseudo-random numbers in [-1, 1). The label of a row is the index of the largest of its first
/// three.
inline dataset small_dataset(int64_t examples = 48) {
  std::vector<float> x(static_cast<size_t>(examples) * 8);
  std::vector<int32_t> y(static_cast<size_t>(examples));
  uint32_t state = 12345;
  for (auto& v : x) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
  }
  for (size_t i = 0; i < y.size(); ++i) {
    const float* row = &x[i * 8];
    y[i] = static_cast<int32_t>(std::max_element(row, row + 3) - row);
  }
  return *dataset::from_tensors({{"x", tensor::of<float>({examples, 8}, x)}},
                                {{"y", tensor::of<int32_t>({examples}, y)}});
}

inline model small_model(double dropout, const optimizer& by) {
  return model{"small", [dropout, by](graph& g, const features& x, const labels& y, mode m) {
                 auto h = nn::dense(x["x"], {.units = 5, .activation = relu});
                 h = troupe::dropout(h, dropout, m == mode::train);
                 const auto logits = nn::dense(h, {.units = 3});
                 return multi_class_head{.classes = 3}.spec(
                     g, {.mode = m, .logits = logits, .labels = y.only(), .optimizer = by});
               }};
}
inline model small_model(double dropout = 0.2, double rate = 0.01) {
  return small_model(dropout, adam{.rate = static_cast<float>(rate)});
}

/// A model whose matrix products are large enough for several threads.
inline model wide_model() {
  return model{"wide", [](graph& g, const features& x, const labels& y, mode m) {
                 const auto h = troupe::dropout(nn::dense(x["x"], {.units = 4096, .activation = relu}), 0.2,
                                                m == mode::train);
                 return multi_class_head{.classes = 3}.spec(
                     g, {.mode = m, .logits = nn::dense(h, {.units = 3}), .labels = y.only(), .optimizer = adam{}});
               }};
}

constexpr auto soon = std::chrono::seconds{60};  // Longer than any wait of a test, shorter than its program's limit.

struct small_job_options {
  int64_t max_steps = 20;
  std::optional<int64_t> save_steps = 5;
  std::optional<double> save_secs = {};
  int64_t replicas = 1;
  int32_t hosts = 1;
  bool reducers = false;  ///< `training_job::reducers`
  int64_t threads = 1;
  std::optional<int64_t> shards = {};
  bool evaluates = false;
  double throttle_secs = 0;
  evaluation_mode when = evaluation_mode::waits;
  dataset input = small_dataset().shuffle().batch(4).repeat();
  std::shared_ptr<file_system> files = memory_disk::make();
  std::vector<std::shared_ptr<hook>> hooks = {};
  model source = small_model();
  bool keeps = true;
  std::optional<int64_t> recovers = 0;  ///< `run_config::recovery_attempts_max`.
  int64_t loop = 100;                   ///< `run_config::steps_per_loop`.
};

inline job_basis small_basis(const small_job_options& o) {
  run_config config{.seed = 7,
                    .log_step_count_steps = 5,
                    .steps_per_loop = o.loop,
                    .gradient_shards = o.shards,
                    .replicas = o.replicas,
                    .intra_op_threads = o.threads,
                    .recovery_attempts_max = o.recovers};
  if (o.keeps)
    config.model_dir = "/run";
  if (o.save_secs)
    config.save_checkpoints_secs = *o.save_secs;
  else
    config.save_checkpoints_steps = o.save_steps ? setting<int64_t>{*o.save_steps} : setting<int64_t>{std::nullopt};
  auto settled = resolve_config(config);
  if (!settled)
    throw std::runtime_error(to_text(settled.error()));
  return {.source = std::make_shared<const model>(o.source), .config = *settled, .files = o.files};
}

inline evaluation_data small_evaluation() { return {.input = small_dataset(20).batch(8)}; }

inline training_job describe_small(const small_job_options& o) {
  training_job job{.basis = small_basis(o),
                   .input = o.input,
                   .hosts = o.hosts,
                   .reducers = o.reducers,
                   .max_steps = o.max_steps,
                   .hooks = o.hooks};
  if (o.evaluates)
    job.evaluations = {{.data = small_evaluation(), .throttle_secs = o.throttle_secs, .when = o.when}};
  return job;
}

inline std::shared_ptr<prepared_job> prepare_small(const small_job_options& o = {}) {
  auto job = prepare(describe_small(o));
  if (!job)
    throw std::runtime_error(to_text(job.error()));
  return *job;
}

/// The newest checkpoint of the directory, read as by a later process.
inline restored_checkpoint newest_checkpoint(const std::shared_ptr<file_system>& files) {
  auto store = checkpoint_store::open(files, "/run", {.read_only = true});
  if (!store)
    throw std::runtime_error(to_text(store.error()));
  auto found = (*store)->restore_newest();
  if (!found)
    throw std::runtime_error(to_text(found.error()));
  return *found;
}

inline bool same_state(const checkpoint_content& a, const checkpoint_content& b) {
  if (a.id != b.id || a.tensors.size() != b.tensors.size() || a.blobs != b.blobs)
    return false;
  for (size_t i = 0; i < a.tensors.size(); ++i)
    if (a.tensors[i].name != b.tensors[i].name || !(a.tensors[i].value == b.tensors[i].value))
      return false;
  return true;
}

/// The steps of the events of kind `what`.
inline std::vector<int64_t> steps_of(const std::vector<job_event>& events, job_event::kind what) {
  std::vector<int64_t> steps;
  for (const auto& e : events)
    if (e.what == what)
      steps.push_back(e.step);
  return steps;
}

using steps = std::vector<int64_t>;

/// The checkpoints that events tell of, in their order.
inline std::vector<checkpoint_id> commits_of(const std::vector<job_event>& events) {
  std::vector<checkpoint_id> all;
  for (const auto& e : events)
    if (e.what == job_event::kind::saved)
      all.push_back(*e.checkpoint);
  return all;
}

}  // namespace troupe::test
