// For programs that log with spdlog: passes a job's events to a logger. This is the only header that mentions spdlog,
// and any version works: the library itself does not use it.
// Not needed to begin with.
//
//   auto job = tr::start(estimator, training, {}, {.log = tr::log_to(spdlog::get("training"))});
#pragma once

#include <troupe/job.hpp>

#include <spdlog/logger.h>

namespace troupe {

/// A function for `start_options::log`. With a null logger nothing is logged.
inline std::function<void(log_level, const std::string&)> log_to(std::shared_ptr<spdlog::logger> logger) {
  if (!logger)
    return {};
  return [logger = std::move(logger)](log_level level, const std::string& line) {
    constexpr spdlog::level::level_enum levels[] = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                                    spdlog::level::err};
    logger->log(levels[static_cast<size_t>(level)], spdlog::string_view_t{line.data(), line.size()});
  };
}

}  // namespace troupe
