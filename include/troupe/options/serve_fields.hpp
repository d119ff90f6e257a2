// The table of serve_options' fields (options/option_field.hpp).
// Not needed to begin with.
#pragma once

#include <troupe/options/option_field.hpp>
#include <troupe/serve.hpp>

namespace troupe {

template <>
struct option_fields<serve_options> {
  static constexpr std::tuple all{
      option_field{"host", &serve_options::host,
                   "the address to listen on: that of this host alone, unless told otherwise"},
      option_field{"port", &serve_options::port, "the port; 0: any that is free", field_range::between(0, 65535)},
      option_field{"health_port", &serve_options::health_port,
                   "the port of /healthz and /metrics; none: that of the predictions", field_range::between(0, 65535)},
      option_field{"name", &serve_options::name, "of the model, in paths; none: the last part of the directory's name"},
      option_field{"batch_rows_max", &serve_options::batch_rows_max, "rows that are computed together",
                   field_range::between(1, 65536)},
      option_field{"batch_delay_ms", &serve_options::batch_delay_ms, "milliseconds that a request waits for others",
                   field_range::between(0, 10'000)},
      option_field{"threads", &serve_options::threads, "batches that are computed at one time",
                   field_range::between(1, 1024)},
      option_field{"request_rows_max", &serve_options::request_rows_max, "rows of a request", field_range::at_least(1)},
      option_field{"body_bytes_max", &serve_options::body_bytes_max, "bytes of a request's body",
                   field_range::between(1, 1 << 30)},
      option_field{"memory_bytes_max", &serve_options::memory_bytes_max,
                   "bytes of the bodies, tensors and answers of all requests in work", field_range::at_least(1)},
      option_field{"connections_max", &serve_options::connections_max,
                   "connections that are answered at one time, a thread each", field_range::between(1, 4096)},
      option_field{"requests_max", &serve_options::requests_max,
                   "requests that wait for a thread, and for a batch; more are refused", field_range::at_least(1)},
      option_field{"read_secs", &serve_options::read_secs, "seconds between two pieces of a request",
                   field_range::between(0.001, 3600)},
      option_field{"request_secs", &serve_options::request_secs,
                   "seconds for the whole of a request, and for its answer", field_range::between(0.001, 3600)},
      option_field{"idle_secs", &serve_options::idle_secs, "seconds until a connection without a request is closed",
                   field_range::between(1, 3600)},
      option_field{"wait_secs", &serve_options::wait_secs, "seconds that a request waits for its turn",
                   field_range::between(0.001, 3600)},
      option_field{"poll_secs", &serve_options::poll_secs, "seconds between two looks for a newer export",
                   field_range::between(0.01, 86'400)}};
};

}  // namespace troupe
