#include "compute/engine/bound_programs.hpp"

namespace troupe {

bound_programs::bound_programs(const program_engine_options& options)
  : options_(options),
    pool_(options.threads.most > 1 ? thread_pool::of(options.threads.most, options.threads.processors) : nullptr) {}

expected<program*> bound_programs::find(int64_t rows, bool forward_only) {
  constexpr size_t bindings_max = 8;
  auto& programs = forward_only ? forward_ : gradients_;
  for (auto& [bound, p] : programs)
    if (bound == rows)
      return p.get();
  program_options wanted{.batch = rows,
                         .shards = options_.shards,
                         .seed = options_.seed,
                         .pool = pool_,
                         .work_a_thread = options_.threads.as_pays ? automatic_work_a_thread : 0,
                         .expose = options_.expose,
                         .measure = options_.measure,
                         .recompute = options_.recompute};
  const auto& model = *options_.graph;
  auto spec = model.spec;
  if (forward_only && !options_.exposed_loss.empty())
    spec.loss = spec.predictions.at(options_.exposed_loss);
  const auto plan = forward_only ? program::make_forward : program::make;
  auto planned = plan(model.g, spec, options_.store->layout(), wanted);
  if (!planned && planned.error().category == errc::resource_exhausted && pool_ && options_.threads.as_pays) {
    pool_ = wanted.pool = nullptr;  // The thread count is automatic (`as_pays`), so one thread will do.
    planned = plan(model.g, spec, options_.store->layout(), wanted);
  }
  if (!planned)
    return fail(planned.error());
  if (programs.size() == bindings_max)
    programs.erase(programs.begin() + 1);  // Keeps the first program: it is for full batches and will be used again.
  programs.emplace_back(rows, std::move(*planned));
  return programs.back().second.get();
}

program* bound_programs::first_if(int64_t rows, bool forward_only) const {
  const auto& programs = forward_only ? forward_ : gradients_;
  return !programs.empty() && programs.front().first == rows ? programs.front().second.get() : nullptr;
}

}  // namespace troupe
