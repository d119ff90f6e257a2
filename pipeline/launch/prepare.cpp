#include "pipeline/launch/build_programs.hpp"
#include "pipeline/launch/check_prepared.hpp"
#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/open_datasets.hpp"
#include "words/affinity.hpp"
#include "words/expect.hpp"

#include <algorithm>

namespace troupe {

const evaluation_data& prepared_job::evaluation(int32_t which) const {
  const auto* alone = std::get_if<evaluation_job>(&job);
  if (const auto* follower = std::get_if<follower_job>(&job))
    return follower->evaluations[static_cast<size_t>(which)].data;
  return alone ? alone->data : training().evaluations[static_cast<size_t>(which)].data;
}

prepared_program& prepared_job::in(mode m) {
  const auto p = std::find_if(plan->programs.begin(), plan->programs.end(),
                              [m](const plan_program& x) { return x.mode == m; });
  expect(p != plan->programs.end(), "the plan has no program of that mode");
  return programs[static_cast<size_t>(p - plan->programs.begin())];
}

const prepared_program& prepared_job::driven_by(node_id driver) const {
  const auto& replicas = plan.all(role::replica, driver);
  expect(!replicas.empty(), "a driver without a replica has no program");
  return programs[*replicas.front()->program];
}

search_books books_of_plan(const prepared_job& job) {
  const auto books = parse_books(job.blobs.at(std::string{search_books_blob}), "the plan");
  expect(books.has_value(), "the books of a plan cannot be read");
  return *books;
}

namespace {

/// Rejects a checkpoint that cannot be resumed, before a model is planned. The checkpoint writer checks again, since
/// another checkpoint may be committed meanwhile.
expected<void> check_books(const job_books& books, const plan_iteration& planned) {
  if (books && books->id.iteration > planned.number)
    return fail(errc::failed_precondition, books->prefix + " is of iteration " + std::to_string(books->id.iteration)
                                               + " of a search, and this job of iteration "
                                               + std::to_string(planned.number)
                                               + ": go on with the search, or train into another directory");
  return {};
}

}  // namespace

expected<std::shared_ptr<prepared_job>> prepare(any_job settled) {
  auto books = books_of(settled);
  if (!books)
    return fail(books.error());
  auto planned = plan_of(settled, std::move(*books));
  if (!planned)
    return fail(planned.error());
  return prepare(std::move(settled), std::move(*planned));
}

expected<std::shared_ptr<prepared_job>> prepare(any_job settled, planned_job planned) {
  // The setting `on_not_finite` of a job applies to its groups; `check` rejects it if there are several.
  if (basis_of(settled).config.on_not_finite == not_finite::stop)
    for (auto& g : planned.plan.groups)
      g.on_not_finite = not_finite::stop;
  auto plan = checked_plan::of(std::move(planned.plan));
  if (!plan)
    return fail(plan.error());
  if (planned.resources.models.size() != (*plan)->programs.size()
      || planned.resources.datasets.size() != (*plan)->datasets.size())
    return fail(errc::invalid_argument, "the plan lists " + std::to_string((*plan)->programs.size()) + " programs and "
                                            + std::to_string((*plan)->datasets.size()) + " datasets; "
                                            + std::to_string(planned.resources.models.size()) + " models and "
                                            + std::to_string(planned.resources.datasets.size())
                                            + " datasets came with it");
  if (auto possible = check_books(planned.books, (*plan)->iteration); !possible)
    return fail(possible.error());
  auto job = std::make_shared<prepared_job>(prepared_job{.job = std::move(settled)});
  job->plan = std::move(*plan);
  if (job->basis().config.pin_replicas)
    job->processors = allowed_processors();
  job->books = std::move(planned.books);
  job->growth = std::move(planned.growth);
  job->remarks = std::move(planned.remarks);
  job->blobs = std::move(planned.blobs);
  if (!planned.resources.hooks.empty())
    job->hooks = std::make_shared<const group_hooks>(std::move(planned.resources.hooks));
  if (const auto& settings = job->basis().start)
    job->start = std::make_shared<start_values>(job->basis().files, *settings);
  job->switches[no_node];
  for (const auto& n : job->plan->nodes)
    job->switches[n.driver];
  for (size_t d = 0; d < planned.resources.datasets.size(); ++d) {
    auto data = open_dataset(*job, d, planned.resources.datasets[d]);
    if (!data)
      return fail(data.error());
    job->datasets.push_back(std::move(*data));
  }
  if (auto possible = build_programs(*job, planned.resources).and_then([&] { return check_prepared(*job); }); !possible)
    return fail(possible.error());
  return job;
}

}  // namespace troupe
