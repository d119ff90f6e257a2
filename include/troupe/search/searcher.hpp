// A search over ensembles of subnetworks: AdaNet (Cortes et al. 2017). Its iterations train candidate subnetworks and
// ensembles side by side; the best ensemble goes on into the next iteration.
// Not needed to begin with.
//
//   tr::searcher searcher{{.head = tr::multi_class_head{.classes = 10},
//                          .subnetwork_generator = tr::generators::simple_dnn({}),
//                          .max_iteration_steps = 1000},
//                         {.model_dir = "runs/search"}};
//   auto result = tr::train_and_evaluate(searcher, {.input = train, .max_steps = 3000}, {.input = test});
//
// The calls are those of an estimator (estimator.hpp), with its guarantees. `max_steps` and `steps` count global steps,
// which a combiner makes of the steps of the subnetworks: by default their mean. A call in the directory of a search
// goes on with it, and makes the same choices wherever it was interrupted.
#pragma once

#include <troupe/estimator.hpp>
#include <troupe/job.hpp>
#include <troupe/search/options.hpp>

namespace troupe {

/// What is searched for, and how its jobs are run: a plain value.
struct searcher {
  search_options search = {};
  run_config config = {};
};

/// Errors: also those of `validate(search_options)`; failed_precondition for a model directory of another kind of job,
/// or of another search.
TROUPE_API expected<job> start(const searcher& s, const train_spec& training, const eval_specs& evaluations = {},
                               const start_options& options = {});
TROUPE_API expected<train_result> train(const searcher& s, const train_spec& training);
TROUPE_API expected<train_result> train_and_evaluate(const searcher& s, const train_spec& training,
                                                     const eval_specs& evaluations);
/// The winner of the iterations so far, as an estimator to evaluate, predict and export: of an open iteration the best
/// candidate by the same rules. Its variables are those of the checkpoint `which`; before there is any checkpoint, the
/// newest is iteration 0 with initial values. Errors: not_found if another checkpoint is not there; failed_precondition
/// as above.
TROUPE_API expected<estimator> winner_of(const searcher& s, const checkpoint_ref& which = {});

}  // namespace troupe
