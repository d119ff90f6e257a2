// An outfeed whose chief and summary writer are stand-ins.
#pragma once

#include "actors/steps/outfeed.hpp"
#include "support/simulation.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

struct outfeed_alone : simulation {
  recorder<progress, stream_end, flushed> chief = record<progress, stream_end, flushed>();
  recorder<troupe::record> writer = simulation::record<troupe::record>();
  outfeed_options options{.groups = {{}}, .log_every = 4};
  outfeed_actor drain;

  void start(int32_t replicas = 1, int64_t step = 0) {
    for (int32_t r = 0; r < replicas; ++r)
      options.groups[0].replicas.push_back({node_id{r}, "replica/" + std::to_string(r)});
    drain = spawn(outfeed, options, chief.as<progress_sink_actor>());
    tell(drain, connect_records{writer.as<record_sink_actor>()});
    tell(drain, begin{1, step, {}});
  }
  void report(int32_t replica, int64_t step, std::vector<double> losses, std::vector<step_values> watched = {},
              double seconds = 0) {
    tell(drain, step_report{1, node_id{replica}, step, std::move(losses), std::move(watched), {}, seconds});
  }
  void end(int32_t replica, int64_t step) {
    tell(drain, stream_end{1, node_id{replica}, step, {errc::out_of_range, "the data ended"}});
  }
};

}  // namespace troupe::test
