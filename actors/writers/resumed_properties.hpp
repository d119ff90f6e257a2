// What a job that goes on from a checkpoint does otherwise than the one that wrote it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace troupe {

/// Warnings, each with what the manifest says, what the job has now and what follows from it: of "numerics_version", "cpu_level",
/// "gradient_shards" and "seed". Another number of replicas is no difference by itself: as many shards have the same bits. Nothing is
/// said of a property that either does not have.
std::vector<std::string> differences_in_arithmetic(const std::map<std::string, std::string>& written, const std::map<std::string, std::string>& now);

}  // namespace troupe
