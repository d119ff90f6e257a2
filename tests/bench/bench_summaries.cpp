// The cost of summaries.
//
//   encoding   records a second that an event writer frames and writes, compared with the same protobuf messages filled
//              and serialised by hand into one buffer: of one scalar, and of a histogram of 100,000 values that is
//              counted already
//   recording  the time of the replica's thread in a step that records: microseconds for each scalar, where the goal is
//              0.5; and a step of 784-128-10 with histograms of its variables, the largest of 100,352 values, compared
//              with one without, where the goal is a ratio of 0.97
#include "compute/engine/step_engine.hpp"
#include "compute/kernels/denormals.hpp"
#include "storage/events/event_log.hpp"
#include "storage/proto/event.pb.h"
#include "storage/records/record_framing.hpp"
#include "tests/bench/bench.hpp"

#include <troupe/nn.hpp>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace troupe::bench {
namespace {

constexpr int64_t flush_bytes = int64_t{1} << 20;

void need(const expected<void>& done) {
  if (!done)
    throw std::runtime_error(to_text(done.error()));
}

/// Discards what is appended, so that no disk is measured.
class forgetful_file final : public writable_file {
 public:
  expected<void> append(std::span<const std::byte>) override { return {}; }
  expected<void> sync() override { return {}; }
  expected<void> close() override { return {}; }
  expected<bool> is_in_place() const override { return true; }
};

class forgetful_file_system final : public file_system {
 public:
  expected<std::unique_ptr<writable_file>> create(const std::string&) override {
    return std::make_unique<forgetful_file>();
  }
  expected<std::unique_ptr<writable_file>> create_new(const std::string& path) override { return create(path); }
  expected<std::unique_ptr<writable_file>> open_to_append(const std::string& path) override { return create(path); }
  expected<std::unique_ptr<readable_file>> open(const std::string& path) override { return none(path); }
  expected<void> rename(const std::string&, const std::string&) override { return {}; }
  expected<void> remove(const std::string&) override { return {}; }
  expected<void> create_directories(const std::string&) override { return {}; }
  expected<bool> create_directory(const std::string&) override { return true; }
  expected<void> remove_empty_directory(const std::string&) override { return {}; }
  expected<void> sync_directory(const std::string&) override { return {}; }
  expected<std::vector<file_info>> list(const std::string&) override { return std::vector<file_info>{}; }
  expected<file_info> info(const std::string& path) override { return none(path); }
  expected<std::optional<std::string>> lock_owner(const std::string&) override { return std::nullopt; }
  expected<std::unique_ptr<directory_lock>> lock(const std::string& directory) override { return none(directory); }
  expected<std::unique_ptr<directory_watch>> watch(const std::string& path) override { return none(path); }
  expected<std::unique_ptr<file_hold>> hold(const std::string& path) override { return none(path); }
  expected<bool> remove_unless_held(const std::string&) override { return true; }

 private:
  static tl::unexpected<error> none(const std::string& path) { return fail(errc::not_found, path); }
};

/// 100,000 values of a normal distribution in TensorFlow's buckets: from ±1e-12 on, each limit is 1.1 times the one
/// before.
histogram normal_histogram() {
  constexpr double values = 100'000;
  histogram h{.least = -4.4, .greatest = 4.4, .count = values, .sum = 12.5, .sum_of_squares = values};
  for (double limit = 1e-12; limit < 1e20; limit *= 1.1)
    h.limits.push_back(limit);
  const size_t positive = h.limits.size();
  for (size_t i = 0; i < positive; ++i)
    h.limits.push_back(-h.limits[i]);
  h.limits.push_back(0);
  h.limits.push_back(std::numeric_limits<double>::max());
  std::sort(h.limits.begin(), h.limits.end());
  double below = 0;
  for (const double limit : h.limits) {
    const double up_to = std::round(values * 0.5 * std::erfc(-limit / std::sqrt(2.0)));
    h.counts.push_back(up_to - below);
    below = up_to;
  }
  return h;
}

/// The histogram as the writer stores it, with adjacent empty buckets joined.
histogram collapsed(const histogram& h) {
  histogram c = h;
  c.limits.clear(), c.counts.clear();
  for (size_t i = 0; i < h.limits.size(); ++i)
    if (h.counts[i] != 0 || i + 1 == h.limits.size() || h.counts[i + 1] != 0) {
      c.limits.push_back(h.limits[i]);
      c.counts.push_back(h.counts[i]);
    }
  return c;
}

/// The reference, written by hand: one buffer, one message, no checks.
void encode(const log_event& event, proto::Event& message, std::string& buffer) {
  message.Clear();
  message.set_wall_time(event.wall_time);
  message.set_step(event.step);
  auto& value = *message.mutable_summary()->add_value();
  value.set_tag(event.values[0].tag);
  if (event.values[0].what == summary_value::kind::scalar) {
    value.set_simple_value(static_cast<float>(event.values[0].scalar));
  } else {
    const histogram& h = event.values[0].histogram;
    auto& into = *value.mutable_histo();
    into.set_min(h.least);
    into.set_max(h.greatest);
    into.set_num(h.count);
    into.set_sum(h.sum);
    into.set_sum_squares(h.sum_of_squares);
    into.mutable_bucket_limit()->Add(h.limits.begin(), h.limits.end());
    into.mutable_bucket()->Add(h.counts.begin(), h.counts.end());
  }
  const size_t begin = begin_record(buffer);
  message.AppendToString(&buffer);
  end_record(buffer, begin);
  if (std::ssize(buffer) >= flush_bytes)
    buffer.clear();
}

void run(suite& s, const std::string& name, log_event event) {
  auto log = event_log_writer::create(std::make_shared<forgetful_file_system>(), "/m", {.wall_time = 1});
  if (!log)
    throw std::runtime_error(to_text(log.error()));
  const auto ours = [&](int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      event.step = i;
      need((*log)->add(event));
      if ((*log)->unflushed_bytes() >= flush_bytes)
        need((*log)->flush());
    }
  };
  log_event same = event;
  same.values[0].histogram = collapsed(same.values[0].histogram);
  proto::Event message;
  std::string buffer;
  const auto reference = [&](int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      same.step = i;
      encode(same, message, buffer);
    }
  };
  s.compare({.name = name, .unit = "records/s", .reference_name = "by hand"}, ours, reference);
}

// -- recording ----------------------------------------------------------------------------

constexpr int64_t rows = 128;

/// A replica's engine for a classifier, which gets the same batch at every step.
class recording_step {
 public:
  recording_step(int64_t inputs, int64_t hidden, int scalars) {
    source_ = std::make_shared<const model>(
        model{"recorded", [=](graph& g, const features& f, const labels& l, mode m) {
                model_spec spec{.mode = m};
                const symbol h = nn::dense(f["x"], {.units = hidden, .activation = relu});
                spec.loss = reduce_mean(sparse_softmax_cross_entropy(l["y"], nn::dense(h, {.units = 10})));
                spec.optimizer = adam{};
                for (int i = 0; i < scalars; ++i)
                  g.scalar("scalar", scale(spec.loss, i + 2));
                return spec;
              }});
    const element_spec element{{{"x", dtype::float32, {inputs}}}, {{"y", dtype::int32, {}}}};
    const std::shared_ptr<const model_graph> built = *build_graph(*source_, element, mode::train);
    store_ = *parameter_store::create(*layout_of(*built), 1);
    store_->initialise(1);
    auto made = make_program_engine(
        {.graph = built, .delivered = element.components(), .store = store_, .batch_rows = rows});
    if (!made)
      throw std::runtime_error(to_text(made.error()));
    engine_ = std::move(*made);
    x_ = allocate_buffer(rows * inputs * 4), y_ = allocate_buffer(rows * 4);
    for (int64_t i = 0; i < rows * inputs; ++i)
      reinterpret_cast<float*>(x_.get())[i] = static_cast<float>(i % 97) / 97;
    for (int64_t i = 0; i < rows; ++i)
      reinterpret_cast<int32_t*>(y_.get())[i] = static_cast<int32_t>(i % 10);
  }

  /// Seconds a step, measured over `n` steps.
  double seconds(int64_t n, bool record) {
    const std::byte* feeds[] = {x_.get(), y_.get()};
    const double start = now(clock_kind::thread);
    for (int64_t i = 0; i < n; ++i, ++step_) {
      if (engine_->gradients(step_, {feeds, rows, record}, 0) != step_status::ok)
        throw std::runtime_error("a step is not finite");
      engine_->apply(step_, engine_->gradient(), 0, 0);
      if (record)
        engine_->recorded(0);
    }
    return (now(clock_kind::thread) - start) / static_cast<double>(n);
  }

 private:
  std::shared_ptr<const model> source_;
  std::shared_ptr<parameter_store> store_;
  std::unique_ptr<step_engine> engine_;
  std::shared_ptr<std::byte> x_, y_;
  int64_t step_ = 0;
};

void record_scalars(suite& s) {
  constexpr int scalars = 64;
  recording_step with{4, 4, scalars}, without{4, 4, 0};
  std::vector<double> cost;
  for (int round = 0; round < 15; ++round)
    cost.push_back((with.seconds(500, true) - without.seconds(500, true)) / scalars * 1e6);
  s.compare({.name = "recording/scalar", .unit = "us", .reference_name = "what is wanted"}, cost,
            std::vector<double>(cost.size(), 0.5), true);
}

void record_histograms(suite& s) {
  recording_step step{784, 128, 0};
  std::vector<double> recording, plain;
  for (int round = 0; round < 41; ++round) {
    plain.push_back(step.seconds(50, false) * 1e6);
    recording.push_back(step.seconds(50, true) * 1e6);
  }
  s.compare({.name = "recording/histograms", .unit = "us", .reference_name = "a step that records nothing"}, recording,
            plain, true);
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe;
  bench::suite s{"summaries", argc, argv};
  {
    const flush_denormals as_in_a_replica;
    bench::record_scalars(s);
    bench::record_histograms(s);
  }
  bench::run(s, "encoding/scalar", {.wall_time = 1.7e9, .values = {{.tag = "loss", .scalar = 0.25}}});
  bench::run(
      s, "encoding/histogram",
      {.wall_time = 1.7e9,
       .values = {
           {.what = summary_value::kind::histogram, .tag = "dense/kernel", .histogram = bench::normal_histogram()}}});
}
