#include "actors/writers/resumed_properties.hpp"

#include <cstdlib>

namespace troupe {

std::vector<std::string> differences_in_arithmetic(const std::map<std::string, std::string>& written,
                                                   const std::map<std::string, std::string>& now) {
  const auto value = [](const auto& properties, const char* name) {
    const auto found = properties.find(name);
    return found == properties.end() ? std::string{} : found->second;
  };
  const auto differs = [&](const char* name) {
    const auto before = value(written, name), after = value(now, name);
    return !before.empty() && !after.empty() && before != after;
  };
  const auto both = [&](const char* name) {
    return value(written, name) + ", this job has " + value(now, name) + ": ";
  };
  constexpr auto other_bits = "what follows has other last bits than the job that wrote it would have had";

  std::vector<std::string> warnings;
  if (differs("numerics_version"))
    warnings.push_back("the checkpoint was written by arithmetic of version " + both("numerics_version") + other_bits);
  if (differs("cpu_level"))
    warnings.push_back("the checkpoint was written by a build for the CPU level " + both("cpu_level") + other_bits);
  if (differs("gradient_shards")) {
    auto text =
        "the checkpoint was written with gradient_shards = " + both("gradient_shards")
        + "gradients are summed in another order, dropout and batch statistics are those of other parts of a batch";
    if (differs("replicas"))
      text += ", which follows the number of replicas, " + value(written, "replicas") + " before and "
              + value(now, "replicas") + " now";
    const auto count = [&](const auto& properties, const char* name) {
      return std::strtoll(value(properties, name).c_str(), nullptr, 10);
    };
    if (const auto shards = count(written, "gradient_shards"), replicas = count(now, "replicas");
        replicas > 0 && shards % replicas == 0)
      text += "; gradient_shards = " + value(written, "gradient_shards") + " keeps the bits";
    warnings.push_back(std::move(text));
  }
  if (differs("seed"))
    warnings.push_back("the checkpoint was written with seed " + both("seed")
                       + "dropout draws other numbers from here on, and variables keep their values");
  return warnings;
}

}  // namespace troupe
