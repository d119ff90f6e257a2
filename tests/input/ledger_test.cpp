// The ledger: which sample is read at which step, whatever the stops, the hosts and the sizes of batches on the way.
//
// A pipeline is drawn from the sources and stages that there are. One host reads it without a stop. Then it is read
// again in parts: each goes on from the position that the one before has saved, on a number of hosts and in batches of
// a size that are drawn too. TROUPE_LEDGER_SEED=123 reads a single pipeline and prints what is drawn.
#include "input/sources/idx_source.hpp"
#include "input/streams/row_stage.hpp"
#include "numbered_records.hpp"
#include "reading.hpp"
#include "tests/support/dice.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>

namespace troupe::ledger_test {

namespace {

using sample = std::string;        ///< All bytes of one example.
using step = std::vector<sample>;  ///< The samples of one batch.
using stage = std::function<dataset(const dataset&)>;

using test::dice;

// -- sources -------------------------------------------------------------------

const element_spec one_id{.features = {{.name = "id", .type = dtype::int64}}};

example_tensors with_id(int64_t id) { return {.features = {{"id", tensor::scalar(id)}}}; }

dataset made(const expected<dataset>& d) {
  REQUIRE_MESSAGE(d.has_value(), (d ? "" : to_text(d.error())));
  return *d;
}

/// Images of two bytes each, which hold the number of the image, as IDX files are read.
dataset numbered_images(int64_t count) {
  std::vector<uint8_t> pixels, labels;
  for (int64_t i = 0; i < count; ++i) {
    pixels.insert(pixels.end(), {static_cast<uint8_t>(i % 256), static_cast<uint8_t>(i / 256)});
    labels.push_back(static_cast<uint8_t>(i % 10));
  }
  return made(input::idx_dataset({.images = "images", .labels = "labels"}, tensor::of<uint8_t>({count, 1, 2}, pixels),
                                 tensor::of<uint8_t>({count}, labels)));
}

dataset draw_source(dice& d) {
  const int64_t count = d.in_percent(50) ? d.of<int64_t>({84, 126, 168}) : d.between(1, 150);
  switch (d.between(0, 5)) {
    case 0: return numbered(count);
    case 1: return made(dataset::from_generator(one_id, count, with_id));
    case 2: return numbered_records({count / 3, 0, count - count / 3}, compression::none);
    case 3: return numbered_records({count / 3, 0, count - count / 3}, compression::gzip);
    case 4: return numbered_images(count);
    default: return numbered_stream(count);
  }
}

// -- stages --------------------------------------------------------------------

/// A pipeline for any size of its batches.
struct pipeline {
  dataset source;
  std::vector<stage> before, after;  ///< The stage `batch`.
  int64_t batch = 0;                 ///< 0: single examples.
  bool drops_remainder = false;
  uint64_t seed = 0;

  dataset examples() const {
    dataset all = source;
    for (const auto& s : before)
      all = s(all);
    return all;
  }
  dataset in_batches_of(int64_t size) const {
    dataset all = size > 0 ? examples().batch(size, drops_remainder) : examples();
    for (const auto& s : after)
      all = s(all);
    return all;
  }
  dataset whole() const { return in_batches_of(batch); }
  iterate_options options(int32_t host = 0, int32_t hosts = 1) const {
    return {.seed = seed, .host = host, .hosts = hosts};
  }
  /// Whether a position is one of examples, so that batches of another size go on from it.
  bool in_order() const {
    const auto last = whole().last_stage();
    const auto* rows = dynamic_cast<const input::row_stage*>(last.get());
    return rows && rows->batches_in_order();
  }
  /// The examples of an epoch that batches of `size`, or none of them, have. Absent: there is one epoch, without an
  /// end.
  std::optional<int64_t> kept(int64_t size) const {
    const auto all = examples().last_stage()->elements(false);
    return all && drops_remainder && size > 0 ? *all - *all % size : all;
  }
};

example_tensors negated(const example_tensors& e) {
  example_tensors changed{.features = {}, .labels = e.labels};
  for (const auto& [name, value] : e.features)
    if (value.type() == dtype::int64) {
      auto ids = value.as<int64_t>();
      std::vector<int64_t> all(ids.begin(), ids.end());
      for (auto& id : all)
        id = -id - 1;
      changed.features[name] = tensor::of<int64_t>(value.dims(), all);
    } else {
      changed.features[name] = value;
    }
  return changed;
}

/// A stage that fits anywhere. `any_order`: one of those for sources that are read in any order, too.
stage draw_stage(dice& d, bool any_order) {
  switch (d.between(0, any_order ? 4 : 3)) {
    case 0: return [n = d.between(1, 120)](const dataset& x) { return x.take(n); };
    case 1: return [n = d.between(0, 20)](const dataset& x) { return x.skip(n); };
    case 2: return [n = d.between(1, 3)](const dataset& x) { return x.repeat(n); };
    case 3: {
      const auto count = d.between(1, 3), index = d.between(0, count - 1);
      return [count, index](const dataset& x) { return x.shard(count, index); };
    }
    default:
      return [own = d.in_percent(30)](const dataset& x) { return x.shuffle(own ? std::optional{7u} : std::nullopt); };
  }
}

pipeline draw_pipeline(dice& d) {
  pipeline p{.source = draw_source(d), .seed = static_cast<uint64_t>(d.between(0, 9))};
  const bool any_order = dynamic_cast<const input::row_stage*>(p.source.last_stage().get()) != nullptr;
  for (auto stages = d.between(0, 3); stages > 0; --stages)
    if (d.in_percent(25))
      p.before.push_back([](const dataset& x) { return x.map("negated", negated); });
    else
      p.before.push_back(draw_stage(d, any_order));
  if (any_order && d.in_percent(20))
    p.before.push_back(
        [size = d.between(1, 4), shift = d.between(1, 4)](const dataset& x) { return x.window(size, shift); });
  const bool in_streams = any_order && d.in_percent(15);
  p.batch = d.in_percent(10) ? 0 : d.in_percent(50) ? d.of<int64_t>({14, 21, 42}) : d.between(1, 12);
  if (in_streams)
    p.before.push_back([n = std::max<int64_t>(1, p.batch), begins = d.in_percent(50)](const dataset& x) {
      return x.streams(n, {.begins = begins ? "begins" : ""});
    });
  p.drops_remainder = d.in_percent(40);
  for (auto stages = p.batch > 0 && d.in_percent(40) ? d.between(1, 2) : 0; stages > 0; --stages)
    p.after.push_back(draw_stage(d, any_order && !in_streams));
  if (d.in_percent(50))
    p.after.push_back([n = d.between(1, 3)](const dataset& x) { return x.repeat(n); });
  else if (d.in_percent(30))
    p.after.push_back([](const dataset& x) { return x.repeat(); });
  return p;
}

// -- reading -------------------------------------------------------------------

/// The next batch; empty at the end of the data.
step next_step(dataset_iterator& it) {
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::byte*> into;
  for (const auto& c : it.spec().components())
    into.push_back(memory.emplace_back(static_cast<size_t>(it.batch_rows() * c.row_bytes())).data());
  const auto rows = it.read(into, {});
  if (!rows)  // A stream of which a stage leaves nothing says so here.
    REQUIRE_MESSAGE((rows.error().category == errc::out_of_range || names(rows.error(), "without elements")),
                    to_text(rows.error()));
  step all(rows ? static_cast<size_t>(*rows) : 0);
  for (size_t row = 0; row < all.size(); ++row)
    for (const auto& component : memory) {
      const auto width = component.size() / static_cast<size_t>(it.batch_rows());
      all[row].append(reinterpret_cast<const char*>(component.data()) + row * width, width);
    }
  return all;
}

std::vector<sample> joined(const std::vector<step>& steps) {
  std::vector<sample> all;
  for (const auto& s : steps)
    all.insert(all.end(), s.begin(), s.end());
  return all;
}

/// What the parts of all pipelines have shown, so that no kind of them is left out unseen.
struct tally {
  std::map<int32_t, int64_t> parts_on_hosts;
  int64_t pipelines = 0, other_batches = 0, refused_batches = 0, at_their_step = 0, in_other_steps = 0;
};

/// Reads a pipeline in parts, and compares each with the unbroken reading.
class ledger {
 public:
  /// `endless`: the data go on behind the unbroken reading.
  ledger(const pipeline& p, std::vector<step> unbroken, bool endless, bool printed, tally& seen)
    : p_(p), unbroken_(std::move(unbroken)), samples_(joined(unbroken_)), endless_(endless), in_order_(p.in_order()),
      printed_(printed), seen_(seen) {}

  void read_in_parts(dice& d) {
    for (int parts = 0; parts < 4 && at_ < samples_.size(); ++parts)
      read_part(d, parts == 3);
  }

 private:
  /// Samples of the epoch in which the position is.
  int64_t offset() const {
    const auto all = in_order_ ? p_.kept(p_.batch) : std::nullopt;
    return static_cast<int64_t>(at_) % all.value_or(std::numeric_limits<int64_t>::max());
  }

  /// Draws a size of batches that goes on from here. One that does not has to be refused.
  int64_t draw_batch(dice& d, int32_t hosts) {
    if (!in_order_ || d.in_percent(25))
      return size_;
    const int64_t size = d.in_percent(60) && p_.batch % hosts == 0 ? p_.batch / hosts : d.between(1, 2 * p_.batch);
    if (p_.kept(size) != p_.kept(p_.batch))
      return size_;
    if (offset() % size == 0)
      return size;
    const auto refused = iterate(p_.in_batches_of(size), p_.options())->restore(position_);
    REQUIRE_FALSE(refused);
    CHECK(names(refused.error(), "where no batch of " + std::to_string(size) + " begins"));
    ++seen_.refused_batches;
    return size_;
  }

  void read_part(dice& d, bool to_the_end) {
    const auto hosts = d.of<int32_t>({1, 2, 3, 7});
    size_ = at_ > 0 || !in_order_ ? draw_batch(d, hosts) : p_.batch;
    const auto left = static_cast<int64_t>(samples_.size() - at_) / std::max<int64_t>(1, size_) / hosts;
    const int64_t rounds = to_the_end ? std::numeric_limits<int64_t>::max() : d.between(0, left);
    if (printed_)
      std::printf("from sample %zu: %d hosts, batches of %lld, %lld rounds\n", at_, static_cast<int>(hosts),
                  static_cast<long long>(size_), static_cast<long long>(rounds));
    ++seen_.parts_on_hosts[hosts];
    seen_.other_batches += size_ != p_.batch;

    std::vector<std::unique_ptr<dataset_iterator>> readers;
    for (int32_t host = 0; host < hosts; ++host) {
      readers.push_back(iterate(p_.in_batches_of(size_), p_.options(host, hosts)));
      if (!position_.empty()) {
        const auto taken = readers.back()->restore(position_);
        REQUIRE_MESSAGE(taken.has_value(), (taken ? "" : to_text(taken.error())));
      }
    }
    const auto epoch = p_.kept(size_);
    const bool whole_steps = hosts == 1 || (in_order_ && epoch && *epoch % p_.batch == 0 && offset() % p_.batch == 0);
    const bool same_steps = size_ * hosts == p_.batch && whole_steps;
    for (int64_t round = 0; round < rounds && at_ < samples_.size(); ++round)
      read_round(readers, same_steps);
    if (at_ == samples_.size() && !endless_)
      for (const auto& r : readers)
        REQUIRE(next_step(*r).empty());
    // The position of any host is that of all.
    if (at_ < samples_.size())
      position_ = readers[static_cast<size_t>(d.between(0, hosts - 1))]->save().value();
  }

  /// One batch on each host.
  void read_round(const std::vector<std::unique_ptr<dataset_iterator>>& readers, bool same_steps) {
    std::vector<step> round;
    for (const auto& r : readers)
      round.push_back(next_step(*r));
    auto together = joined(round);
    if (endless_)  // What is behind the unbroken reading is not compared.
      together.resize(std::min(together.size(), samples_.size() - at_));
    REQUIRE(together.size() > 0);
    REQUIRE(at_ + together.size() <= samples_.size());
    const auto first = samples_.begin() + static_cast<std::ptrdiff_t>(at_);
    REQUIRE(std::equal(together.begin(), together.end(), first));
    if (same_steps) {
      REQUIRE(together == step_at(at_));
      seen_.at_their_step += static_cast<int64_t>(together.size());
    } else {
      seen_.in_other_steps += static_cast<int64_t>(together.size());
    }
    at_ += together.size();
  }

  /// The unbroken reading's step that begins with a sample; empty if none does.
  step step_at(size_t begins) const {
    size_t at = 0;
    for (const auto& s : unbroken_) {
      if (at == begins)
        return s;
      at += s.size();
    }
    return {};
  }

  const pipeline& p_;
  std::vector<step> unbroken_;
  std::vector<sample> samples_;
  bool endless_;
  bool in_order_;
  bool printed_;
  tally& seen_;
  size_t at_ = 0;  ///< Samples that have been read.
  int64_t size_ = p_.batch;
  std::string position_ = {};
};

/// Draws the pipeline of a seed. False: it has no data or cannot be, and says so.
bool plays(uint64_t seed, bool printed, tally& seen) {
  dice d{seed};
  const auto p = draw_pipeline(d);
  const auto text = p.whole().to_text();
  CAPTURE(seed);
  CAPTURE(text);
  if (printed)
    std::printf("%s\n", text.c_str());
  auto reader = p.whole().last_stage()->iterate(p.options());
  if (!reader) {
    CHECK(reader.error().category == errc::invalid_argument);
    return false;
  }
  constexpr size_t steps_max = 200;  // Of data without an end.
  std::vector<step> unbroken;
  while (unbroken.size() < steps_max) {
    auto one = next_step(**reader);
    if (one.empty())
      break;
    unbroken.push_back(std::move(one));
  }
  if (unbroken.empty())
    return false;
  const bool endless = unbroken.size() == steps_max;
  ledger{p, std::move(unbroken), endless, printed, seen}.read_in_parts(d);
  ++seen.pipelines;
  return true;
}

}  // namespace

TEST_CASE(
    "whatever is stopped and restored, on 1, 2, 3 and 7 hosts and in other batches, each sample is read once and in "
    "its "
    "place") {
  tally seen;
  if (const char* one = std::getenv("TROUPE_LEDGER_SEED")) {
    CHECK(plays(std::strtoull(one, nullptr, 10), true, seen));
    return;
  }
  for (uint64_t seed = 1; seen.pipelines < 1000 && seed < 5000; ++seed)
    plays(seed, false, seen);
  CHECK(seen.pipelines == 1000);
  for (const int32_t hosts : {1, 2, 3, 7})
    CHECK(seen.parts_on_hosts[hosts] > 300);
  CHECK(seen.other_batches > 100);
  CHECK(seen.refused_batches > 30);
  CHECK(seen.at_their_step > 1000);
  CHECK(seen.in_other_steps > 1000);
  MESSAGE(seen.pipelines << " pipelines: " << seen.other_batches << " parts in batches of another size, "
                         << seen.refused_batches << " refused; " << seen.at_their_step << " samples at their step, "
                         << seen.in_other_steps << " in their place");
}

}  // namespace troupe::ledger_test
