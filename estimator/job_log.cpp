#include "estimator/job_log.hpp"

#include <spdlog/logger.h>

namespace troupe {

namespace {

constexpr double progress_every_seconds = 1;

class job_log final : public hook {
 public:
  explicit job_log(std::shared_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {}
  void on_event(const job_event& event, job_control&) override { logger_->log(level_of(event), to_text(event)); }

 private:
  spdlog::level::level_enum level_of(const job_event& event) {
    using kind = job_event::kind;
    if (event.what == kind::failed)
      return spdlog::level::err;
    if (event.what == kind::warning || event.what == kind::recovering)
      return spdlog::level::warn;
    if (event.what != kind::progress)
      return spdlog::level::info;
    if (told_ && event.seconds - *told_ < progress_every_seconds)
      return spdlog::level::debug;
    told_ = event.seconds;
    return spdlog::level::info;
  }

  std::shared_ptr<spdlog::logger> logger_;
  std::optional<double> told_;  ///< When progress was last logged as info.
};

}  // namespace

std::shared_ptr<hook> make_job_log(std::shared_ptr<spdlog::logger> logger) {
  return std::make_shared<job_log>(std::move(logger));
}

}  // namespace troupe
