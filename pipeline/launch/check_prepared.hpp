// What can only be said of a job once its programs are built.
#pragma once

#include "pipeline/launch/prepared_job.hpp"

namespace troupe {

/// Finds the groups that evaluations load and the results of earlier runs. invalid_argument where two groups have a variable of one name, evaluators and
/// evaluations do not go together, or a rule, `keep_best` or a warm start asks for what is not there; the errors of the files that are read.
expected<void> check_prepared(prepared_job& job);

}  // namespace troupe
