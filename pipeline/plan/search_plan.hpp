// The plan of an iteration of a search.
//
//   infeed/0 ══ data ══► t1_a/replica/0 ════ logits ════► t1_a_grow_mean/replica/0
//            ══ data ══► previous/replica/0 ══ outputs ══►
//
// Each new subnetwork and each new candidate ensemble is a group, which one infeed feeds. The previous ensemble is one
// more group, which retires where the iteration begins: it computes what others read, and learns nothing.
#pragma once

#include "ensemble/search.hpp"
#include "pipeline/plan/jobs.hpp"

namespace troupe {

/// Makes the job a search. Adds the evaluations that its iterations end with: for the choice of the winner, and for
/// reports.
void become_search(training_job& job, const search_options& options);

/// How the winner of an iteration is chosen.
choice_rules choice_rules_of(const search_options& options);
/// The rules of the search of this job, which must be one.
search_rules rules_of(const training_job& job);

/// The plan of the iteration that the books are about: that of the checkpoint's books of the search, which are of the
/// checkpoint's own iteration or, once a winner is chosen, of the next one. Without a checkpoint that is iteration 0.
/// The plan's blob holds the books of the search with the specs of the iteration. Errors: invalid_argument for options
/// out of range and for on_not_finite = stop; unimplemented for several hosts; failed_precondition for a checkpoint of
/// a job that is no search, and for a generator or strategies that propose something else than before; those of
/// `parse_books`, of the graphs and of the dataset.
expected<planned_job> plan_search(const training_job& job, const job_books& books);

}  // namespace troupe
