#include "estimator/job_log.hpp"

namespace troupe {

namespace {

constexpr double progress_every_seconds = 1;

class job_log final : public hook {
 public:
  explicit job_log(std::function<void(log_level, const std::string&)> log) : log_(std::move(log)) {}
  void on_event(const job_event& event, job_control&) override { log_(level_of(event), to_text(event)); }

 private:
  log_level level_of(const job_event& event) {
    using kind = job_event::kind;
    if (event.what == kind::failed)
      return log_level::error;
    if (event.what == kind::warning || event.what == kind::recovering)
      return log_level::warning;
    if (event.what != kind::progress)
      return log_level::info;
    if (told_ && event.seconds - *told_ < progress_every_seconds)
      return log_level::debug;
    told_ = event.seconds;
    return log_level::info;
  }

  std::function<void(log_level, const std::string&)> log_;
  std::optional<double> told_;  ///< Seconds at which progress was last logged as info.
};

}  // namespace

std::shared_ptr<hook> make_job_log(std::function<void(log_level, const std::string&)> log) {
  return std::make_shared<job_log>(std::move(log));
}

}  // namespace troupe
