#include "pipeline/launch/prediction_hooks.hpp"

#include "actors/hook_roll.hpp"

namespace troupe {

struct prediction_hooks::impl final : job_control {
  explicit impl(hook_roll all) : hooks(std::move(all)) {}
  void save() override {}
  void stop() override { stopped = true; }

  expected<void> show(const fact& x) {
    auto thrown = hooks.show(x, *this);
    return thrown.empty() ? expected<void>{} : fail(std::move(thrown.front()));
  }

  hook_roll hooks;
  int64_t batches = 0;
  bool stopped = false, ended = false;
};

prediction_hooks::prediction_hooks(std::vector<std::shared_ptr<hook>> hooks, std::vector<std::string> outputs)
  : impl_(std::make_unique<impl>(hook_roll{std::move(hooks), {std::move(outputs), {}}})) {}

prediction_hooks::~prediction_hooks() = default;

expected<void> prediction_hooks::begin() {
  fact first;
  first.what = fact::begin_at;
  return impl_->show(first);
}

expected<void> prediction_hooks::show(const step_values& batch) {
  fact taken;
  taken.what = fact::step;
  taken.values = batch;
  taken.at = ++impl_->batches;
  return impl_->show(taken);
}

bool prediction_hooks::stopped() const noexcept { return impl_->stopped; }

expected<void> prediction_hooks::end(int64_t step, const std::string& prefix, const std::optional<error>& failure) {
  if (std::exchange(impl_->ended, true))
    return {};
  fact last;
  last.what = fact::end_at;
  last.at = impl_->batches;
  last.news.what = failure ? job_event::kind::failed : job_event::kind::finished;
  last.news.step = step;
  last.news.text = prefix;
  last.news.failure = failure;
  return impl_->show(last);
}

}  // namespace troupe
