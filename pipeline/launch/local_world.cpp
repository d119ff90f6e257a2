#include "pipeline/launch/local_world.hpp"

#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/prepared_job.hpp"
#include "storage/files/processors.hpp"

#include <caf/send.hpp>

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <vector>

namespace troupe {

using std::chrono::milliseconds, std::chrono::steady_clock;

class local_world::local_listener final : public job_listener {
 public:
  void started(const std::string&, const caf::strong_actor_ptr& actor) override {
    std::lock_guard lock{guard_};
    std::erase_if(actors_,
                  [](const caf::actor_addr& address) { return !caf::actor_cast<caf::strong_actor_ptr>(address); });
    actors_.emplace_back(actor->get()->address());
  }
  void changed() override {
    std::lock_guard lock{guard_};
    ++changes_;
    changed_.notify_all();
  }
  void happened(const job_event&) override {}  // Only hooks receive events here.
  void kill_all() override {
    std::lock_guard lock{guard_};
    for (const auto& address : actors_)
      if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(address))
        caf::anon_send_exit(actor, caf::exit_reason::kill);
  }

  bool wait_until(const std::function<bool()>& there, std::optional<milliseconds> deadline) {
    const auto end = steady_clock::now() + bounded(deadline.value_or(milliseconds::max()));
    for (;;) {
      std::unique_lock lock{guard_};
      const auto seen = changes_;
      lock.unlock();
      if (there())
        return true;
      lock.lock();
      if (!changed_.wait_until(lock, end, [&] { return changes_ != seen; }))
        return false;
    }
  }
  bool all_ended(milliseconds deadline) {
    const auto end = steady_clock::now() + bounded(deadline);
    const auto alive = [](const caf::actor_addr& address) {
      const auto actor = caf::actor_cast<caf::strong_actor_ptr>(address);
      return actor && !actor->get()->getf(caf::abstract_actor::is_terminated_flag);
    };
    std::unique_lock lock{guard_};
    while (std::any_of(actors_.begin(), actors_.end(), alive))
      if (changed_.wait_until(lock, std::min(end, steady_clock::now() + milliseconds{1})) == std::cv_status::timeout
          && steady_clock::now() >= end)
        return false;
    return true;
  }

 private:
  std::mutex guard_;
  std::condition_variable changed_;
  uint64_t changes_ = 0;
  std::vector<caf::actor_addr> actors_;  // All actors that were started and still exist.
};

local_world::local_world(std::unique_ptr<local_system> own)
  : own_(std::move(own)), system_(**own_), listener_(std::make_shared<local_listener>()) {}

local_world::local_world(caf::actor_system& host) : system_(host), listener_(std::make_shared<local_listener>()) {}

std::shared_ptr<job_listener> local_world::listener() const { return listener_; }

void local_world::tell_time_and_host(prepared_job& job) const {
  const auto since_epoch = [](auto now) { return std::chrono::duration<double>(now.time_since_epoch()).count(); };
  job.wall_offset = since_epoch(std::chrono::system_clock::now()) - since_epoch(steady_clock::now());
  char name[256] = {};
  job.host = ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

bool local_world::wait_until(const std::function<bool()>& there, std::optional<milliseconds> deadline) {
  return listener_->wait_until(there, deadline);
}

void local_world::end(milliseconds deadline) {
  if (!listener_->all_ended(deadline) && own_)
    own_->leave_behind();
}

int32_t local_launcher::processors() const { return usable_processors(); }
int32_t hosted_launcher::processors() const { return usable_processors(); }

expected<std::shared_ptr<job_world>> local_launcher::make_world() {
  auto own = local_system::make();
  if (!own)
    return fail(own.error());
  return std::make_shared<local_world>(std::move(*own));
}

expected<std::shared_ptr<job_world>> hosted_launcher::make_world() { return std::make_shared<local_world>(host_); }

}  // namespace troupe
