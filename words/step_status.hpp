// The outcome of a step.
#pragma once

#include <cstdint>

namespace troupe {

/// The outcome of a step: flags, OR-ed over replicas. `stopped` comes with `ended`: the job was stopped, the data did
/// not end.
enum class step_status : uint32_t { ok = 0, not_finite = 1, cancelled = 2, ended = 4, bad_input = 8, stopped = 16 };
constexpr step_status operator|(step_status a, step_status b) {
  return static_cast<step_status>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
constexpr bool has(step_status all, step_status one) {
  return (static_cast<uint32_t>(all) & static_cast<uint32_t>(one)) != 0;
}

/// Why a stream ends.
enum class end_kind : uint8_t {
  data,        ///< The data ended: a clean end.
  stopped,     ///< The job was stopped there.
  failed,      ///< There was an error, which is given beside this.
  not_finite,  ///< The next step is not finite, and the job was told to stop before such a step.
};
/// `ends_where_not_finite`: a step that is not finite is a regular end, not a failure.
constexpr end_kind end_kind_of(step_status all, bool ends_where_not_finite = false) {
  if (has(all, step_status::cancelled | step_status::bad_input))
    return end_kind::failed;
  if (has(all, step_status::not_finite))
    return ends_where_not_finite ? end_kind::not_finite : end_kind::failed;
  return !has(all, step_status::ended)    ? end_kind::failed
         : has(all, step_status::stopped) ? end_kind::stopped
                                          : end_kind::data;
}

}  // namespace troupe
