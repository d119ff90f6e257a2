// Profiles a step: runs the program of one replica over real batches and times it.
#include "compute/engine/step_engine.hpp"
#include "inspection/planned_model.hpp"

#include <troupe/inspect.hpp>

#include <algorithm>
#include <chrono>

namespace troupe {

namespace {

using steady = std::chrono::steady_clock;

/// One batch of a dataset in memory at a time, with the pointers that a program is fed.
class fed_batches {
 public:
  fed_batches(dataset_iterator& source, const program& p) : source_(source) {
    const auto all = source.spec().components();
    for (const auto& c : all) {
      buffers_.push_back(allocate_buffer(source.batch_rows() * c.row_bytes()));
      into_.push_back(buffers_.back().get());
    }
    for (const auto& wanted : p.inputs())
      for (size_t i = 0; i < all.size(); ++i)
        if (all[i].name == wanted.name)
          feeds_.push_back(into_[i]);
  }
  /// Reads the next batch, which needs at least `rows` rows; out_of_range if there is none.
  expected<void> read(int64_t rows) {
    if (feeds_.size() == 0 || std::any_of(into_.begin(), into_.end(), [](auto* p) { return p == nullptr; }))
      return fail(errc::resource_exhausted, "no memory for a batch");
    const auto got = source_.read(into_, {});
    if (!got)
      return fail(got.error());
    return *got >= rows ? expected<void>{} : fail(errc::out_of_range, "the last batch is not full");
  }
  std::span<const std::byte* const> feeds() const { return feeds_; }

 private:
  dataset_iterator& source_;
  std::vector<std::shared_ptr<std::byte>> buffers_;
  std::vector<std::byte*> into_;
  std::vector<const std::byte*> feeds_;
};

/// Adds up the time of each kernel over the steps of one program.
class stopwatch {
 public:
  explicit stopwatch(size_t kernels) : seconds_(kernels + 1) {}
  void start() { last_ = steady::now(); }
  void stop(size_t kernel) {
    const auto now = steady::now();
    seconds_[kernel] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  double seconds(size_t kernel) const { return seconds_[kernel]; }

 private:
  std::vector<double> seconds_;  ///< One entry for each kernel; the last one is the update.
  steady::time_point last_;
};

/// Adds up the kernels by title. Titles do not depend on the call, so that kernels of one kind are counted together.
void add_operations(step_profile& r) {
  std::map<std::string, step_profile::operation> all;
  for (const auto& k : r.kernels) {
    auto& o = all[k.title];
    o.title = k.title;
    ++o.calls;
    o.seconds += k.seconds;
    o.flops += k.flops;
  }
  for (auto& [title, o] : all)
    r.operations.push_back(std::move(o));
  const auto most_first = [](const auto& a, const auto& b) { return a.seconds > b.seconds; };
  std::stable_sort(r.operations.begin(), r.operations.end(), most_first);
  std::stable_sort(r.kernels.begin(), r.kernels.end(), most_first);
}

}  // namespace

expected<step_profile> profile_model(const estimator& e, const dataset& input, mode m, int64_t steps) {
  if (steps < 1)
    return fail(errc::invalid_argument, "a profile needs at least 1 step, not " + std::to_string(steps));
  auto made = plan_model(e, input, m);
  if (!made)
    return fail(made.error());
  program& p = *made->planned;
  const auto store = parameter_store::create(made->layout, 1);
  const auto gradient = allocate_buffer(std::max<int64_t>(1, made->layout.gradient_bytes()));
  if (!store || !gradient)
    return fail(store ? error{errc::resource_exhausted, "no memory for the gradient"} : store.error());
  (*store)->initialise(made->size.seed);
  const std::pair<int64_t, int64_t> whole{0, made->layout.gradient_bytes()};
  const auto facts = p.describe();
  fed_batches batches{*made->input, p};
  stopwatch none{facts.size()}, watch{facts.size()};
  step_profile r{.model = made->source->name, .mode = m, .rows = made->size.batch};
  // The first step runs with cold caches and is not counted.
  for (int64_t step = 0; step <= steps; ++step) {
    if (auto read = batches.read(made->size.batch); !read && (step < 2 || read.error().category != errc::out_of_range))
      return fail(read.error());
    else if (!read)
      break;
    stopwatch& at = step == 0 ? none : watch;
    at.start();
    const auto status = p.watch(
        {.step = step, .parameters = (*store)->arena(0), .shared = (*store)->shared(), .feeds = batches.feeds()},
        gradient.get(), [&at](size_t kernel) { at.stop(kernel); });
    if (has(status, step_status::bad_input))
      return fail(p.last_error());
    if (m == mode::train) {
      p.apply(step, whole, gradient.get(), (*store)->arena(0), (*store)->arena(0));
      at.stop(facts.size());
    }
    r.steps = step;
  }
  const auto per_step = [&](size_t kernel) { return watch.seconds(kernel) / static_cast<double>(r.steps); };
  for (size_t k = 0; k < facts.size(); ++k)
    if (!facts[k].recording)
      r.kernels.push_back({facts[k].title, facts[k].writes.front().name, per_step(k), facts[k].flops});
  if (m == mode::train)
    r.kernels.push_back({"update", to_text(*made->graph->spec.optimizer), per_step(facts.size()), 0});
  for (const auto& k : r.kernels)
    r.seconds += k.seconds;
  add_operations(r);
  return r;
}

}  // namespace troupe
