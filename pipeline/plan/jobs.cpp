#include "pipeline/plan/jobs.hpp"

#include "input/streams/open_input.hpp"
#include "pipeline/plan/make_plan.hpp"
#include "pipeline/plan/search_plan.hpp"
#include "words/guarded.hpp"

#include <algorithm>

namespace troupe {

const job_basis& basis_of(const any_job& job) noexcept {
  return std::visit([](const auto& j) -> const job_basis& { return j.basis; }, job);
}

std::span<const evaluation_policy> regular_evaluations(const training_job& job) {
  const auto first_other = std::find_if(job.evaluations.begin(), job.evaluations.end(), [](const evaluation_policy& e) {
    return e.purpose != evaluation_purpose::regular;
  });
  return {job.evaluations.begin(), first_other};
}

std::optional<judged_part> judged_part_of(const any_job& job) {
  if (const auto* follower = std::get_if<follower_job>(&job))
    return judged_part{follower->evaluations, follower->stop_early, follower->keep_best, follower->asked};
  const auto* training = std::get_if<training_job>(&job);
  if (!training || training->judged_elsewhere)
    return std::nullopt;
  return judged_part{regular_evaluations(*training), training->stop_early, training->keep_best, training->asked};
}

bool has_hooks(const training_job& job) {
  return !job.hooks.empty() || !job.saving_listeners.empty() || job.log != nullptr;
}

namespace {

/// The options of a plan, and its datasets in the order of their numbers in the plan.
struct planning {
  plan_options options;
  plan_resources resources;
  std::shared_ptr<const model> source;

  expected<std::string> read(const dataset& input) {
    auto text = text_of(input);
    if (!text)
      return fail(text.error());
    resources.datasets.push_back(input);
    resources.models.push_back(source);
    return std::move(*text);
  }
  expected<void> evaluate(const evaluation_data& data, const settled_config& config) {
    options.eval_summaries = config.model_dir.has_value();
    return read(data.input).map([&](std::string text) {
      options.evaluations.push_back({data.name, std::move(text), {data.hosts, data.replicas}});
    });
  }

  expected<void> add(const training_job& job) {
    const auto& config = job.basis.config;
    options.hosts = job.hosts;
    options.reducers = job.reducers;
    options.replicas = config.replicas;
    options.input_mode = config.input_mode;
    options.summaries = config.records() || (job.session && job.session->notes_end);
    options.hooks = has_hooks(job);
    options.watches = job.judged_elsewhere;
    auto done = read(job.input).map([&](std::string text) { options.dataset = std::move(text); });
    for (const auto& e : job.evaluations)
      done = done.and_then([&] { return evaluate(e.data, config); });
    return done;
  }
  expected<void> add(const evaluation_job& job) { return evaluate(job.data, job.basis.config); }
  expected<void> add(const follower_job& job) {
    options.watches = true;
    expected<void> done;
    for (const auto& e : job.evaluations)
      done = done.and_then([&] { return evaluate(e.data, job.basis.config); });
    return done;
  }
  expected<void> add(const prediction_job& job) {
    options.predicted_by = {job.hosts, job.replicas};
    return read(job.input).map([&](std::string text) { options.predict_dataset = std::move(text); });
  }
};

}  // namespace

expected<job_books> books_of(const any_job& job) {
  const auto* training = std::get_if<training_job>(&job);
  if (!training || !training->basis.config.model_dir)
    return job_books{};
  auto found = checkpoint_store::open(training->basis.files, *training->basis.config.model_dir, {.read_only = true})
                   .and_then([](const std::unique_ptr<checkpoint_store>& store) { return store->inspect_newest(); });
  if (found)
    return job_books{std::move(*found)};
  if (found.error().category == errc::failed_precondition)
    return fail(std::move(found.error()));
  return job_books{};
}

expected<planned_job> plan_of(const any_job& job, job_books books) {
  if (const auto* training = std::get_if<training_job>(&job); training && training->planner) {
    auto planned = guarded("the planner", [&] { return training->planner(books); });
    if (planned)
      planned->books = std::move(books);
    return planned;
  }
  if (const auto* training = std::get_if<training_job>(&job); training && training->search) {
    auto planned = guarded("a function of the search", [&] { return plan_search(*training, books); });
    if (planned)
      planned->books = std::move(books);
    return planned;
  }
  const auto& basis = basis_of(job);
  planning p{{.checkpoints = basis.config.saves(),
              .program = basis.source->name,
              .host_calls = !basis.source->host_calls.empty()},
             {},
             basis.source};
  return std::visit([&p](const auto& j) { return p.add(j); }, job)
      .and_then([&p] { return make_plan(p.options); })
      .map([&](job_plan plan) {
        return planned_job{std::move(plan), std::move(p.resources), {}, std::move(books)};
      });
}

}  // namespace troupe
