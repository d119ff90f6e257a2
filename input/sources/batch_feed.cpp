#include "input/streams/example_rows.hpp"
#include "input/streams/refused.hpp"
#include "words/bounded.hpp"
#include "words/text.hpp"

#include <troupe/batch_feed.hpp>
#include <troupe/dataset_iterator.hpp>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>

namespace troupe {

struct batch_feed::shared {
  batch_feed_options options;
  expected<element_spec> spec = troupe::fail(errc::invalid_argument, "no spec");
  std::mutex guard = {};
  std::condition_variable_any changed = {};
  std::deque<example_tensors> waiting = {};
  int64_t closed = 0;
  int64_t openings = 0;
  bool cancelled = false, read = false;  ///< `read`: an iterator exists.
  bool interrupted = false;              ///< Reads are cancelled until the next opening.
  std::optional<error> failure = {};

  bool has_ended() const { return closed >= options.feeders || cancelled || failure; }
};

namespace {

expected<void> check(const std::map<std::string, tensor>& given, const std::vector<component>& wanted,
                     std::string_view side, const batch_feed_options& o) {
  for (const auto& c : wanted) {
    const auto found = given.find(c.name);
    const auto dims = c.dims.prepend(o.batch_size);
    if (found == given.end())
      return fail(errc::invalid_argument, o.name + ": the batch has no " + std::string{side} + " '" + c.name + "'");
    if (found->second.type() != c.type || found->second.dims() != dims)
      return fail(errc::invalid_argument, o.name + ": " + std::string{side} + " '" + c.name + "' is "
                                              + type_text(found->second.type(), found->second.dims()) + ", not "
                                              + type_text(c.type, dims));
  }
  for (const auto& [name, value] : given)
    if (std::none_of(wanted.begin(), wanted.end(), [&name = name](const component& c) { return c.name == name; }))
      return fail(errc::invalid_argument,
                  o.name + ": the batch has a " + std::string{side} + " '" + name + "', which the spec does not have");
  return {};
}

expected<void> check(const batch_feed_options& o) {
  for (const auto& [what, value] :
       {std::pair{"batch_size", o.batch_size}, {"capacity", o.capacity}, {"feeders", o.feeders}})
    if (value < 1)
      return fail(errc::invalid_argument, o.name + ": " + what + " must be at least 1, not " + std::to_string(value));
  return {};
}

class feed_iterator final : public dataset_iterator {
 public:
  explicit feed_iterator(std::shared_ptr<batch_feed::shared> of) : of_(std::move(of)) {}
  ~feed_iterator() override {
    const std::lock_guard lock{of_->guard};
    of_->read = false;
  }

  const element_spec& spec() const noexcept override { return *of_->spec; }
  int64_t batch_rows() const noexcept override { return of_->options.batch_size; }
  expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
    std::unique_lock lock{of_->guard};
    of_->changed.wait(lock, stop, [this] { return !of_->waiting.empty() || of_->has_ended() || of_->interrupted; });
    const auto& name = of_->options.name;
    if (of_->waiting.empty()) {
      if (of_->failure)
        return fail(*of_->failure);
      if (of_->has_ended())
        return fail(errc::out_of_range, name + " ended after " + std::to_string(read_) + " batches");
      return fail(errc::cancelled, name + " was " + (of_->interrupted ? "interrupted" : "stopped") + " before batch "
                                       + std::to_string(read_));
    }
    const auto batch = std::move(of_->waiting.front());
    of_->waiting.pop_front();
    lock.unlock();
    of_->changed.notify_all();
    size_t c = 0;
    for (const auto* side : {&spec().features, &spec().labels})
      for (const auto& what : *side) {
        const auto& value = (side == &spec().features ? batch.features : batch.labels).at(what.name);
        std::memcpy(into[c++], value.data(), static_cast<size_t>(value.byte_size()));
      }
    ++read_;
    return batch_rows();
  }
  expected<std::string> save() const override {
    if (of_->options.forgets)
      return of_->options.name + " forgets";
    return fail(errc::unimplemented,
                "the position of " + of_->options.name
                    + " cannot be saved: what was put is gone once it is read (batch_feed_options::forgets)");
  }
  expected<void> restore(std::string_view state) override {
    if (of_->options.forgets && state == of_->options.name + " forgets")
      return {};
    return fail(errc::invalid_argument, "cannot resume " + of_->options.name + ": the state was saved by '"
                                            + std::string{state.substr(0, state.find('\n'))} + "'");
  }

 private:
  std::shared_ptr<batch_feed::shared> of_;
  int64_t read_ = 0;
};

class feed_stage final : public dataset_stage {
 public:
  explicit feed_stage(std::shared_ptr<batch_feed::shared> of) : of_(std::move(of)) {}

  element_spec spec() const override { return of_->spec.value_or(element_spec{}); }
  std::string to_text() const override { return of_->options.name; }
  std::optional<int64_t> source_size() const override { return {}; }
  std::optional<int64_t> elements(bool) const override { return {}; }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const override {
    const auto& o = of_->options;
    if (!of_->spec)
      return fail(of_->spec.error());
    if (auto possible = check(o); !possible)
      return fail(possible.error());
    const std::lock_guard lock{of_->guard};
    if (of_->read || options.hosts > 1)
      return fail(errc::failed_precondition, o.name + " is read by one input of one job at a time");
    of_->read = true;
    of_->interrupted = false;
    ++of_->openings;
    of_->changed.notify_all();
    return std::make_unique<feed_iterator>(of_);
  }

 private:
  std::shared_ptr<batch_feed::shared> of_;
};

}  // namespace

bool input::is_batch_feed(const stage_ptr& stage) { return dynamic_cast<const feed_stage*>(stage.get()) != nullptr; }

batch_feed::batch_feed(element_spec spec, batch_feed_options options) : shared_(std::make_shared<shared>()) {
  shared_->options = std::move(options);
  const auto named = input::check_name(shared_->options.name, "a feed");
  shared_->spec = named ? input::checked_spec(std::move(spec), shared_->options.name)
                        : expected<element_spec>{troupe::fail(named.error())};
}

dataset batch_feed::input() const { return dataset{std::make_shared<feed_stage>(shared_)}; }

expected<void> batch_feed::put(example_tensors batch, std::optional<std::chrono::milliseconds> patience) {
  const auto& o = shared_->options;
  if (!shared_->spec)
    return troupe::fail(shared_->spec.error());
  if (auto possible = check(o); !possible)
    return possible;
  if (auto right = check(batch.features, shared_->spec->features, "feature", o); !right)
    return right;
  if (auto right = check(batch.labels, shared_->spec->labels, "label", o); !right)
    return right;
  std::unique_lock lock{shared_->guard};
  const auto there = [this] {
    return shared_->has_ended() || std::ssize(shared_->waiting) < shared_->options.capacity;
  };
  if (!patience)
    shared_->changed.wait(lock, there);
  else if (!shared_->changed.wait_for(lock, bounded(*patience), there))
    return troupe::fail(errc::deadline_exceeded, o.name + ": " + std::to_string(o.capacity)
                                                     + " batches wait to be read, and none was taken within "
                                                     + std::to_string(patience->count()) + " ms");
  if (shared_->cancelled || shared_->failure)
    return troupe::fail(errc::cancelled, o.name + " takes no more batches");
  if (shared_->has_ended())
    return troupe::fail(errc::state, o.name + ": its feeders, " + std::to_string(o.feeders) + ", have closed it");
  shared_->waiting.push_back(std::move(batch));
  lock.unlock();
  shared_->changed.notify_all();
  return {};
}

void batch_feed::close() {
  {
    const std::lock_guard lock{shared_->guard};
    ++shared_->closed;
  }
  shared_->changed.notify_all();
}

void batch_feed::fail(error cause) {
  if (cause.category == errc::out_of_range || cause.category == errc::cancelled)
    cause.category = errc::state;  // To a reader these two say that the data have ended, or that it was stopped.
  {
    const std::lock_guard lock{shared_->guard};
    if (!shared_->failure)
      shared_->failure = std::move(cause);
  }
  shared_->changed.notify_all();
}

void batch_feed::cancel() {
  {
    const std::lock_guard lock{shared_->guard};
    shared_->cancelled = true;
  }
  shared_->changed.notify_all();
}

int64_t batch_feed::openings() const {
  const std::lock_guard lock{shared_->guard};
  return shared_->openings;
}

bool batch_feed::await_opening(int64_t openings) {
  std::unique_lock lock{shared_->guard};
  shared_->interrupted = shared_->interrupted || shared_->openings == openings;
  shared_->changed.notify_all();
  shared_->changed.wait(lock, [&] { return shared_->openings != openings || shared_->has_ended(); });
  return !shared_->has_ended();
}

}  // namespace troupe
