#include "estimator/commit_follower.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "words/bounded.hpp"
#include "words/checkpoint_id.hpp"
#include "words/moved_from.hpp"

#include <algorithm>
#include <thread>

namespace troupe {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

class real_time final : public follower_time {
 public:
  nanoseconds now() override { return std::chrono::steady_clock::now().time_since_epoch(); }
  void wait(directory_watch* changes, milliseconds patience) override {
    if (changes)
      changes->changed(patience);
    else
      std::this_thread::sleep_for(patience);
  }
};

}  // namespace

std::shared_ptr<follower_time> system_time() { return std::make_shared<real_time>(); }

commit_stream::commit_stream(std::unique_ptr<impl> i) noexcept : impl_(std::move(i)) {}
commit_stream::commit_stream(commit_stream&&) noexcept = default;
commit_stream& commit_stream::operator=(commit_stream&&) noexcept = default;
commit_stream::~commit_stream() = default;
expected<std::optional<committed_checkpoint>> commit_stream::next() {
  if (!impl_)
    return fail(moved_from("stream"));
  return impl_->next();
}

expected<std::optional<committed_checkpoint>> commit_stream::impl::newest() const {
  const auto there = files->info(directory);
  if (!there && there.error().category == errc::not_found)
    return std::nullopt;
  auto store = checkpoint_store::open(files, directory, {.read_only = true});
  if (!store)
    return fail(std::move(store.error()));
  const auto id = (*store)->newest();
  if (!id)
    return std::nullopt;
  return committed_checkpoint{*id, join_path(directory, checkpoint_name(*id))};
}

expected<std::optional<committed_checkpoint>> commit_stream::impl::next() {
  const auto least = bounded(options.least_interval);
  const bool ends = options.deadline.has_value();
  const milliseconds deadline = bounded(options.deadline.value_or(milliseconds::max()));
  if (!changes)
    if (auto watched = files->watch(directory))
      changes = std::move(*watched);
  const auto earliest = last ? returned_at + least : time->now();
  auto since = time->now();
  for (;;) {
    const auto now = time->now();
    const bool early = now < earliest;
    if (!early) {
      auto found = newest();
      if (!found)
        return found;
      if (*found && (*found)->id != last) {
        last = (*found)->id;
        returned_at = now;
        return found;
      }
      if (ends && now - since >= deadline) {
        if (!options.until || options.until())
          return std::nullopt;
        since = now;
      }
    }
    auto patience = std::chrono::ceil<milliseconds>(early ? earliest - now : nanoseconds{look_again});
    if (!early && ends)
      patience = std::min(patience, std::chrono::ceil<milliseconds>(since + deadline - now));
    time->wait(early ? nullptr : changes.get(), std::max(patience, milliseconds{1}));
  }
}

commit_stream commits(std::string model_dir, commits_options options) {
  return commit_stream{std::make_unique<commit_stream::impl>(
      commit_stream::impl{posix_file_system(), std::move(model_dir), std::move(options)})};
}

}  // namespace troupe
