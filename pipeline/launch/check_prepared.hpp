// Checks of a job that are only possible after its programs are built.
#pragma once

#include "pipeline/launch/prepared_job.hpp"

namespace troupe {

/// Finds the groups that each evaluation loads, and reads the evaluations of earlier runs. Errors: invalid_argument if
/// two groups have a variable of the same name, if evaluators and evaluations do not match, or if a rule, `keep_best`
/// or a warm start asks for something that does not exist; the errors of the files that are read.
expected<void> check_prepared(prepared_job& job);

}  // namespace troupe
