#include "words/bounded.hpp"
#include "words/guarded.hpp"
#include "words/text.hpp"
#include "words/told_line.hpp"

#include <troupe/coordinator.hpp>

#include <algorithm>
#include <map>

namespace troupe {

namespace {

class steady_time final : public coordinator_clock {
 public:
  time now() override { return std::chrono::steady_clock::now(); }
  void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
            std::optional<time> deadline) override {
    if (deadline)
      changed.wait_until(lock, *deadline);
    else
      changed.wait(lock);
  }
};

}  // namespace

coordinator_clock::~coordinator_clock() = default;

struct coordinator::shared {
  explicit shared(coordinator_options o) : options(std::move(o)) {
    if (!options.clock)
      options.clock = std::make_shared<steady_time>();
  }

  coordinator_options options;
  std::mutex guard = {};
  std::condition_variable changed = {};
  bool stops = false, joined = false;
  bool ends = false;  ///< The stop does not pass, or is not made good.
  std::optional<error> cause = {};
  struct thread {
    std::string name;
    bool until_end = false;
  };
  std::map<uint64_t, thread> live = {};  ///< Who has enlisted and not left, in that order.
  uint64_t enlisted = 0;
  using functions = std::map<uint64_t, std::function<void()>>;
  functions at_stop = {}, at_end = {};
  std::recursive_mutex calling = {};  ///< Held while those functions are called, or removed.

  /// Under `guard`.
  void begin_anew() {
    stops = joined = ends = false;
    cause.reset();
  }
  /// Calls all of them once.
  void call(functions& all) {
    const std::lock_guard calls{calling};
    while (!all.empty()) {
      const auto next = all.extract(all.begin());
      static_cast<void>(attempt([&]() -> expected<void> {
        next.mapped()();
        return {};
      }));
    }
  }
  /// Calls it at once if `is_due`, otherwise with the others.
  static std::shared_ptr<void> add(const std::shared_ptr<shared>& to, functions shared::*all, bool shared::*is_due,
                                   std::function<void()> what) {
    const std::lock_guard calls{to->calling};
    std::unique_lock lock{to->guard};
    const auto number = ++to->enlisted;
    const bool is_late = (*to).*is_due;
    lock.unlock();
    if (functions now; is_late) {
      now.emplace(number, std::move(what));
      to->call(now);
      return nullptr;
    }
    ((*to).*all).emplace(number, std::move(what));
    return {nullptr, [to, all, number](void*) {
              const std::lock_guard removes{to->calling};
              ((*to).*all).erase(number);
            }};
  }
  uint64_t enlist(thread who) {
    const std::lock_guard lock{guard};
    live.emplace(++enlisted, std::move(who));
    return enlisted;
  }
  void leave(uint64_t number) {
    const std::lock_guard lock{guard};
    live.erase(number);
    changed.notify_all();
  }
  /// Waits until `there` says so. Returns what it says at the deadline.
  template <class There>
  bool wait(std::unique_lock<std::mutex>& lock, std::optional<coordinator_clock::time> deadline, There there) {
    auto& clock = *options.clock;
    while (!there()) {
      if (deadline && clock.now() >= *deadline)
        return false;
      clock.wait(lock, changed, deadline);
    }
    return true;
  }
};

struct coordinator::membership::impl {
  std::shared_ptr<coordinator::shared> of;
  uint64_t number = 0;
};

coordinator::membership::membership(std::unique_ptr<impl> i) noexcept : impl_(std::move(i)) {}
coordinator::membership::membership(membership&&) noexcept = default;
coordinator::membership& coordinator::membership::operator=(membership&& other) noexcept {
  leave();
  impl_ = std::move(other.impl_);
  return *this;
}
coordinator::membership::~membership() { leave(); }
void coordinator::membership::leave() noexcept {
  if (const auto mine = std::exchange(impl_, nullptr))
    mine->of->leave(mine->number);
}

coordinator::coordinator(coordinator_options options) : shared_(std::make_shared<shared>(std::move(options))) {}

expected<void> coordinator::request_stop(std::optional<error> cause) {
  if (cause && shared_->options.clean.contains(cause->category))
    cause.reset();
  bool ends = false;
  {
    const std::lock_guard lock{shared_->guard};
    if (shared_->joined)
      return cause ? expected<void>{fail(std::move(*cause))} : expected<void>{};
    if (std::exchange(shared_->stops, true))
      return {};
    shared_->ends = !cause || !shared_->options.passing.contains(cause->category);
    ends = shared_->ends;
    shared_->cause = std::move(cause);
    shared_->changed.notify_all();
  }
  shared_->call(shared_->at_stop);
  if (ends)
    shared_->call(shared_->at_end);
  return {};
}

bool coordinator::is_clean(errc category) const { return shared_->options.clean.contains(category); }

bool coordinator::is_passing(errc category) const { return shared_->options.passing.contains(category); }

std::shared_ptr<void> coordinator::at_stop(std::function<void()> what) const {
  return shared::add(shared_, &shared::at_stop, &shared::stops, std::move(what));
}

std::shared_ptr<void> coordinator::at_end(std::function<void()> what) const {
  return shared::add(shared_, &shared::at_end, &shared::ends, std::move(what));
}

bool coordinator::should_stop() const {
  const std::lock_guard lock{shared_->guard};
  return shared_->stops;
}

bool coordinator::wait_for_stop(std::chrono::milliseconds patience) const {
  std::unique_lock lock{shared_->guard};
  return shared_->wait(lock, shared_->options.clock->now() + bounded(patience), [this] { return shared_->stops; });
}

std::optional<error> coordinator::requested_error() const {
  const std::lock_guard lock{shared_->guard};
  return shared_->cause;
}

std::optional<coordinator::stop_request> coordinator::requested() const {
  const std::lock_guard lock{shared_->guard};
  return shared_->stops ? std::optional{stop_request{shared_->cause}} : std::nullopt;
}

expected<void> coordinator::attempt(const std::function<expected<void>()>& work) {
  return guarded("a thread of the coordinator", work);
}

expected<void> coordinator::request_unless(expected<void> done) {
  return done ? done : request_stop(std::move(done.error()));
}

coordinator::membership coordinator::enlist(std::string name) {
  return membership{std::make_unique<membership::impl>(membership::impl{shared_, shared_->enlist({std::move(name)})})};
}

coordinator::membership coordinator::enlist_until_end(std::string name) {
  const auto number = shared_->enlist({.name = std::move(name), .until_end = true});
  return membership{std::make_unique<membership::impl>(membership::impl{shared_, number})};
}

expected<void> coordinator::join(const join_options& options) {
  std::unique_lock lock{shared_->guard};
  auto& live = shared_->live;
  shared_->wait(lock, {}, [&] { return live.empty() || shared_->stops; });
  const bool passes = options.begins_anew && shared_->stops && !shared_->ends;
  if (shared_->stops && !passes) {
    shared_->ends = true;
    lock.unlock();
    shared_->call(shared_->at_end);
    lock.lock();
  }
  const auto stays = [&](const auto& x) { return passes && x.second.until_end; };
  shared_->wait(lock, shared_->options.clock->now() + bounded(options.grace),
                [&] { return std::all_of(live.begin(), live.end(), stays); });
  shared_->joined = true;
  auto stragglers = std::exchange(live, {});
  for (auto next = stragglers.begin(); next != stragglers.end();) {
    const auto at = next++;
    if (stays(*at))
      live.insert(stragglers.extract(at));
  }
  const auto cause = shared_->cause;
  if (options.begins_anew)
    shared_->begin_anew();
  lock.unlock();
  const auto text = troupe::joined(stragglers, ", ", [](const auto& x) { return quoted(x.second.name); })
                    + " did not end within " + shortest_text(std::chrono::duration<float>(options.grace).count())
                    + " s of the stop";
  if (options.ignore_live && !stragglers.empty())
    tell_line(options.log, text);
  if (cause)
    return fail(*cause);
  return options.ignore_live || stragglers.empty() ? expected<void>{} : fail(errc::state, text);
}

void coordinator::clear_stop() {
  const std::lock_guard lock{shared_->guard};
  shared_->begin_anew();
}

expected<void> coordinator::loop(const std::function<expected<void>()>& work, const loop_options& options) {
  const auto until_stop = [&]() -> expected<void> {
    if (!work)
      return fail(errc::invalid_argument, "a loop of the coordinator has an empty function");
    if (options.begin)
      options.begin();
    auto due = shared_->options.clock->now();
    for (;; due += bounded(options.every.value_or(std::chrono::milliseconds{0}))) {
      {
        std::unique_lock lock{shared_->guard};
        const auto stops = [this] { return shared_->stops; };
        if (options.every ? shared_->wait(lock, due, stops) : stops())
          break;
      }
      if (options.until && options.until())
        break;
      if (auto done = work(); !done)
        return done;
    }
    if (options.end)
      options.end();
    return {};
  };
  auto done = attempt(until_stop);
  if (!done)
    static_cast<void>(request_stop(done.error()));
  return done;
}

}  // namespace troupe
