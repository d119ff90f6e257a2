#include "input/streams/open_input.hpp"
#include "pipeline/launch/launch.hpp"
#include "pipeline/launch/prepared_job.hpp"

namespace troupe {

namespace {

expected<prepared_crew> prepare_crew(const job_description& job, const dataset& input, mode what, int32_t hosts, int32_t replicas) {
  prepared_crew crew{what, input, {job.config.seed.value_or(0), what == mode::train, 0, hosts}, hosts, {}, {}, {},
                     std::make_shared<std::atomic<bool>>(false), {}, {}};
  // A first look at the data: its structure and its batch size decide what is planned. An input that cannot be opened
  // is an error of the job before anything else is.
  auto iterator = open_input(input, crew.iterate);
  if (!iterator)
    return fail(iterator.error());
  const element_spec element = (*iterator)->spec();
  const int64_t rows = (*iterator)->batch_rows();
  const int32_t readers = replicas / hosts;
  const int32_t shards = what == mode::train ? static_cast<int32_t>(job.config.gradient_shards.value_or(replicas)) : 1;
  if (rows % readers != 0)
    return fail(errc::invalid_argument, "a batch of " + std::to_string(rows) + " rows cannot be split evenly among "
                                          + std::to_string(readers) + " replicas");
  const auto refused = std::make_shared<std::optional<error>>();
  const auto source = what == mode::predict ? std::make_shared<const model>(choose_predictions(job.source, job.predictions, rows, refused)) : job.source;
  auto layout = layout_of(*source, element, what);
  if (!layout)
    return fail(refused->value_or(layout.error()));  // As it was said, without a line of the model's.
  const bool checkpoints = saves(job) && what == mode::train;
  auto store = parameter_store::create(std::move(*layout), checkpoints ? 2 : 1);
  if (!store)
    return fail(store.error());
  crew.parameters = *store;
  for (int32_t r = 0; r < replicas; ++r) {
    auto engine = make_program_engine({source, what, element, crew.parameters, r, replicas, shards, rows / readers,
                                       job.config.seed.value_or(0), static_cast<int32_t>(job.config.intra_op_threads),
                                       job.config.recompute, crew.cancel});
    if (!engine)
      return fail(engine.error());
    crew.engines.push_back(std::move(*engine));
  }
  if (replicas > 1) {
    auto sums = gradient_reduction::plan({crew.parameters, &crew.parameters->layout()}, replicas);
    if (!sums)
      return fail(sums.error());
    crew.reduction = std::make_shared<gradient_reduction>(std::move(*sums));
  }
  return crew;
}

}  // namespace

expected<std::shared_ptr<prepared_job>> prepare(job_description description) {
  auto job = std::make_shared<prepared_job>();
  job->description = std::move(description);
  auto& d = job->description;
  if (!d.files)
    d.files = posix_file_system();
  if (d.train_input) {
    auto shape = training_plan(d);
    if (!shape)
      return fail(shape.error());
    job->shape = std::move(*shape);
    auto crew = prepare_crew(d, *d.train_input, mode::train, d.hosts, static_cast<int32_t>(d.config.replicas));
    if (!crew)
      return fail(crew.error());
    job->training.emplace(std::move(*crew));
    for (const auto& e : job->shape.edges)
      if (!e.from.starts_with("evaluator/"))
        job->training->edges.push_back(e);
  }
  if (d.eval_input) {
    auto crew = prepare_crew(d, *d.eval_input, mode::evaluate, 1, 1);
    if (!crew)
      return fail(crew.error());
    job->evaluation.emplace(std::move(*crew));
    job->evaluation->edges.push_back({0, "evaluator/infeed/0", "evaluator/replica/0"});
  }
  if (d.predict_input) {
    auto crew = prepare_crew(d, *d.predict_input, mode::predict, 1, 1);
    if (!crew)
      return fail(crew.error());
    job->prediction.emplace(std::move(*crew));
    job->prediction->edges.push_back({0, "predictor/infeed/0", "predictor/replica/0"});
  }
  return job;
}

}  // namespace troupe
