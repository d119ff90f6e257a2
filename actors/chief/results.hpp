// The results of a job: its losses, and the results of its evaluations and exporters. Plain data.
#pragma once

#include "messages/report.hpp"

#include <troupe/tensor.hpp>

#include <map>
#include <string>
#include <vector>

namespace troupe {

struct job_results {
  using values = std::map<std::string, double>;
  /// From the newest report: the losses of its last step, and their means since the previous report.
  loss_point losses = {};
  loop_point open_loop = {};                                     ///< The loop that the newest report is in.
  std::map<std::string, values> metrics = {};                    ///< By evaluation, from its last result.
  std::map<std::string, std::vector<std::string>> exports = {};  ///< By evaluation, from the last run of its exporters.
  /// The array metrics of the first evaluation, from its last result.
  std::map<std::string, tensor> arrays = {};

  /// The losses of the last step: "loss", or in a job of several groups "<group>/loss" of each group that has not left.
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
