// Differences between a resumed job and the job that wrote its checkpoint.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace troupe {

/// Warnings about "numerics_version", "cpu_level", "gradient_shards" and "seed", each with the manifest's value, the
/// job's value and the consequence. A different number of replicas alone causes no warning, because an equal number of
/// shards gives the same bits. A property that either side lacks is skipped.
std::vector<std::string> differences_in_arithmetic(const std::map<std::string, std::string>& written,
                                                   const std::map<std::string, std::string>& now);

}  // namespace troupe
