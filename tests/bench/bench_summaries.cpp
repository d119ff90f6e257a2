// What it costs to keep summaries.
//
//   encoding   records a second that an event writer frames and hands over, against the same protobuf messages filled and
//              serialised by hand into one buffer: of one scalar, and of a histogram of 100,000 values once it is counted
#include "storage/event_log.hpp"
#include "storage/proto/event.pb.h"
#include "storage/record_framing.hpp"
#include "tests/bench/bench.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace troupe::bench {
namespace {

constexpr int64_t flush_bytes = int64_t{1} << 20;

void need(const expected<void>& done) {
  if (!done)
    throw std::runtime_error(to_string(done.error()));
}

/// Takes what is appended and forgets it: what is measured is not a disk.
class forgetful_file final : public writable_file {
 public:
  expected<void> append(std::span<const std::byte>) override { return {}; }
  expected<void> sync() override { return {}; }
  expected<void> close() override { return {}; }
};

class forgetful_file_system final : public file_system {
 public:
  expected<std::unique_ptr<writable_file>> create(const std::string&) override { return std::make_unique<forgetful_file>(); }
  expected<std::unique_ptr<readable_file>> open(const std::string& path) override { return none(path); }
  expected<void> rename(const std::string&, const std::string&) override { return {}; }
  expected<void> remove(const std::string&) override { return {}; }
  expected<void> create_directories(const std::string&) override { return {}; }
  expected<void> sync_directory(const std::string&) override { return {}; }
  expected<std::vector<file_info>> list(const std::string&) override { return std::vector<file_info>{}; }
  expected<file_info> info(const std::string& path) override { return none(path); }
  expected<std::unique_ptr<directory_lock>> lock(const std::string& directory) override { return none(directory); }

 private:
  static tl::unexpected<error> none(const std::string& path) { return fail(errc::not_found, path); }
};

/// 100,000 values of a normal distribution in TensorFlow's buckets, which grow by a tenth from 1e-12 on both sides of zero.
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

/// What the writer makes of it: runs of empty buckets as one.
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

/// By hand: one buffer, one message, nothing looked at.
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
    throw std::runtime_error(to_string(log.error()));
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

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe;
  bench::suite s{"summaries", argc, argv};
  bench::run(s, "encoding/scalar", {.wall_time = 1.7e9, .values = {{.tag = "loss", .scalar = 0.25}}});
  bench::run(s, "encoding/histogram", {.wall_time = 1.7e9, .values = {{.what = summary_value::kind::histogram, .tag = "dense/kernel",
                                                                      .histogram = bench::normal_histogram()}}});
}
