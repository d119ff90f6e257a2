// What a job has come to: its losses, and the results of its evaluations and exporters. Plain data.
#pragma once

#include "messages/report.hpp"

#include <troupe/tensor.hpp>

#include <map>
#include <string>
#include <vector>

namespace troupe {

struct job_results {
  using values = std::map<std::string, double>;
  loss_point losses = {};                                        ///< From the newest report: the last step's, and means since the report before.
  std::map<std::string, values> metrics = {};                    ///< From the last evaluation of each name.
  std::map<std::string, std::vector<std::string>> exports = {};  ///< From the last occasion of each name.
  std::map<std::string, tensor> arrays = {};                     ///< Metrics of the first evaluation that are arrays, from its last result.

  /// The last step's losses: "loss", or in a job of several groups "<group>/loss" of each that has not left.
  values last_losses() const {
    if (losses.of_groups.empty())
      return {{"loss", losses.last}};
    values all;
    for (const auto& [group, loss] : losses.of_groups)
      all[group + "/loss"] = loss.last;
    return all;
  }
};

}  // namespace troupe
