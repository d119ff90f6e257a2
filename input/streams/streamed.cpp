#include "input/streams/streamed.hpp"

#include "input/streams/open_input.hpp"
#include "input/streams/permutation.hpp"
#include "input/streams/position_iterator.hpp"
#include "input/streams/stage_position.hpp"

#include <algorithm>
#include <functional>

namespace troupe::input {

namespace {

using iterator_ptr = std::unique_ptr<dataset_iterator>;
using opener = std::function<expected<iterator_ptr>(const iterate_options&)>;

// -- iterators -----------------------------------------------------------------

class stage_iterator : public dataset_iterator {
 public:
  stage_iterator(std::string stage, iterator_ptr inner)
    : inner_(std::move(inner)), stage_(std::move(stage)), spec_(inner_->spec()) {}

  const element_spec& spec() const noexcept final { return spec_; }
  int64_t batch_rows() const noexcept override { return inner_->batch_rows(); }

  expected<std::string> save() const override {
    auto inner = inner_->save();
    return inner ? packed(stage_, position(), *inner) : inner;
  }
  expected<void> restore(std::string_view state) override {
    auto c = unpacked(stage_, state);
    if (!c)
      return fail(c.error());
    if (auto ok = move_to(*c); !ok)
      return ok;
    return inner_->restore(state);
  }
  std::vector<std::string> warnings() const override { return inner_->warnings(); }

 protected:
  virtual stage_position position() const = 0;
  virtual expected<void> move_to(stage_position c) = 0;

  iterator_ptr inner_;
  std::string stage_;

 private:
  element_spec spec_;
};

class batch_iterator final : public stage_iterator {
 public:
  batch_iterator(std::string stage, iterator_ptr inner, int64_t size, bool drop_remainder)
    : stage_iterator(std::move(stage), std::move(inner)), size_(size), drop_remainder_(drop_remainder) {
    for (const auto& c : spec().components())
      row_bytes_.push_back(static_cast<size_t>(c.row_bytes()));
    at_.resize(row_bytes_.size());
  }

  int64_t batch_rows() const noexcept override { return size_; }

  expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
    if (torn_)
      return torn();
    std::copy(into.begin(), into.end(), at_.begin());
    for (int64_t rows = 0; rows < size_; ++rows) {
      auto one = inner_->read(at_, stop);
      if (!one) {
        const bool end = one.error().category == errc::out_of_range;
        if (end && rows > 0 && !drop_remainder_)
          return rows;
        torn_ = !end && rows > 0;
        return one;
      }
      if (*one != 1) {
        torn_ = true;
        return fail(not_one_row(stage_, *one));
      }
      for (size_t i = 0; i < at_.size(); ++i)
        at_[i] += row_bytes_[i];
    }
    return size_;
  }

  expected<std::string> save() const override { return torn_ ? torn() : stage_iterator::save(); }

 protected:
  stage_position position() const override { return {}; }
  expected<void> move_to(stage_position) override {
    torn_ = false;
    return {};
  }

 private:
  tl::unexpected<error> torn() const {
    return fail(errc::state, stage_ + " was stopped in the middle of a batch: its position is that of no batch");
  }

  int64_t size_;
  bool drop_remainder_;
  bool torn_ = false;
  std::vector<size_t> row_bytes_;
  std::vector<std::byte*> at_;
};

class repeat_iterator final : public stage_iterator {
 public:
  repeat_iterator(std::string stage, iterator_ptr first, opener open, const iterate_options& options,
                  std::optional<int64_t> epochs)
    : stage_iterator(std::move(stage), std::move(first)), open_(std::move(open)), options_(options), epochs_(epochs) {}

  expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
    for (;;) {
      auto rows = inner_->read(into, stop);
      if (rows) {
        fresh_ = false;
        return rows;
      }
      if (rows.error().category != errc::out_of_range || (epochs_ && epoch_ + 1 >= *epochs_))
        return rows;
      if (fresh_)
        return fail(errc::invalid_argument, stage_ + " repeats a source without elements");
      if (auto ok = begin(epoch_ + 1); !ok)
        return fail(ok.error());
    }
  }

 protected:
  stage_position position() const override { return {epoch_, fresh_}; }
  expected<void> move_to(stage_position c) override {
    auto ok = begin(c.a);
    fresh_ = c.b != 0;
    return ok;
  }

 private:
  expected<void> begin(int64_t epoch) {
    iterate_options options = options_;
    if (epoch > 0)
      options.seed = mixed(options.seed ^ static_cast<uint64_t>(epoch));
    auto next = open_(options);
    if (!next)
      return fail(next.error());
    inner_ = std::move(*next);
    epoch_ = epoch;
    fresh_ = true;
    return {};
  }

  opener open_;
  iterate_options options_;
  std::optional<int64_t> epochs_;
  int64_t epoch_ = 0;
  bool fresh_ = true;  ///< Whether nothing has been read in this epoch.
};

/// Reads the elements [first, last).
class window_iterator final : public stage_iterator {
 public:
  window_iterator(std::string stage, iterator_ptr inner, int64_t first, int64_t last)
    : stage_iterator(std::move(stage), std::move(inner)), first_(first), last_(last) {}

  expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
    if (next_ >= last_)
      return fail(errc::out_of_range, stage_ + " is at its end");
    for (;;) {
      auto rows = inner_->read(into, stop);
      if (!rows || next_++ >= first_)
        return rows;
    }
  }

 protected:
  stage_position position() const override { return {next_, 0}; }
  expected<void> move_to(stage_position c) override {
    next_ = c.a;
    return {};
  }

 private:
  int64_t first_;
  int64_t last_;
  int64_t next_ = 0;
};

/// The stage in whose name hosts share a stream that cannot be read in any order.
constexpr std::string_view share_of_hosts = "share";

/// Reads the elements host, host + hosts, ...
class share_iterator final : public stage_iterator {
 public:
  share_iterator(std::string stage, iterator_ptr inner, int64_t host, int64_t hosts)
    : stage_iterator(std::move(stage), std::move(inner)), host_(host), hosts_(hosts) {}

  /// One host that shares with no other has the position of the stream itself, once it has read what it passes over
  /// after several hosts.
  expected<std::string> save() const override {
    return stage_ == share_of_hosts && hosts_ == 1 && next_ == round_ ? inner_->save() : stage_iterator::save();
  }
  /// Hosts also take the position of one that has read the whole stream: the next round begins there.
  expected<void> restore(std::string_view state) override {
    // A source may have that name too; its line has no two counts.
    if (auto rest = state; stage_ == share_of_hosts && !unpacked(stage_, rest)) {
      auto restored = inner_->restore(state);
      if (restored)
        round_ = next_ = 0;
      return restored;
    }
    return stage_iterator::restore(state);
  }

  expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
    for (;;) {
      auto rows = inner_->read(into, stop);
      if (!rows)
        return rows;
      if (next_++ == round_ + host_) {
        round_ += hosts_;
        return rows;
      }
    }
  }

 protected:
  stage_position position() const override { return {round_, next_}; }
  expected<void> move_to(stage_position c) override {
    if (c.a > endless - hosts_)
      return fail(errc::invalid_argument,
                  "the state's position of '" + stage_ + "' cannot be: no round begins at " + std::to_string(c.a));
    round_ = c.a;
    next_ = c.b;
    return {};
  }

 private:
  int64_t host_;
  int64_t hosts_;
  int64_t round_ = 0;  ///< The first element that no host has read.
  int64_t next_ = 0;   ///< The next element of the stream on this host.
};

// -- nodes ---------------------------------------------------------------------

class streamed_stage : public dataset_stage {
 public:
  streamed_stage(stage_ptr inner, std::string stage) : inner_(std::move(inner)), stage_(std::move(stage)) {}

  element_spec spec() const final { return inner_->spec(); }
  std::string to_text() const final { return inner_->to_text() + " -> " + stage_; }
  std::optional<int64_t> source_size() const final { return inner_->source_size(); }
  int64_t streams() const noexcept final { return inner_->streams(); }
  bool never_ends() const noexcept override { return inner_->never_ends(); }

  expected<iterator_ptr> iterate(const iterate_options& options) const final {
    if (auto ok = check_hosts(options); !ok)
      return fail(ok.error());
    iterate_options whole = options;
    whole.host = 0;
    whole.hosts = 1;
    auto inner = opened(inner_, whole);
    if (!inner)
      return inner;
    auto outer = wrap(std::move(*inner), whole);
    if (!outer)
      return outer;
    return shared(std::move(*outer), options);
  }

 protected:
  virtual expected<iterator_ptr> wrap(iterator_ptr inner, const iterate_options& options) const = 0;

  stage_ptr inner_;
  std::string stage_;
};

class streamed_batch_stage final : public streamed_stage {
 public:
  streamed_batch_stage(stage_ptr inner, std::string stage, int64_t size, std::optional<bool> drop_remainder)
    : streamed_stage(std::move(inner), std::move(stage)), size_(size), drop_remainder_(drop_remainder) {}

  std::optional<int64_t> elements(bool drop_remainder) const override {
    auto n = inner_->elements(drop_remainder);
    if (n)
      n = *n / size_ + (*n % size_ != 0 && !drop_remainder_.value_or(drop_remainder));
    return n;
  }

 protected:
  expected<iterator_ptr> wrap(iterator_ptr inner, const iterate_options& options) const override {
    if (inner->batch_rows() != 1)
      return fail(errc::invalid_argument,
                  stage_ + " follows batches of " + std::to_string(inner->batch_rows()) + " rows, in " + to_text());
    return std::make_unique<batch_iterator>(stage_, std::move(inner), size_,
                                            drop_remainder_.value_or(options.drop_remainder));
  }

 private:
  int64_t size_;
  std::optional<bool> drop_remainder_;
};

class streamed_repeat_stage final : public streamed_stage {
 public:
  streamed_repeat_stage(stage_ptr inner, std::string stage, std::optional<int64_t> epochs)
    : streamed_stage(std::move(inner), std::move(stage)), epochs_(epochs) {}

  std::optional<int64_t> elements(bool drop_remainder) const override {
    const auto n = inner_->elements(drop_remainder);
    int64_t product = 0;
    if (!epochs_ || !n || __builtin_mul_overflow(*n, *epochs_, &product))
      return {};
    return product;
  }
  bool never_ends() const noexcept override { return !epochs_ || inner_->never_ends(); }

 protected:
  expected<iterator_ptr> wrap(iterator_ptr inner, const iterate_options& options) const override {
    auto open = [node = inner_](const iterate_options& again) { return opened(node, again); };
    return std::make_unique<repeat_iterator>(stage_, std::move(inner), std::move(open), options, epochs_);
  }

 private:
  std::optional<int64_t> epochs_;
};

class streamed_window_stage final : public streamed_stage {
 public:
  streamed_window_stage(stage_ptr inner, std::string stage, int64_t first, int64_t last)
    : streamed_stage(std::move(inner), std::move(stage)), first_(first), last_(last) {}

  std::optional<int64_t> elements(bool drop_remainder) const override {
    auto n = inner_->elements(drop_remainder);
    if (!n)
      return last_ == endless ? std::nullopt : std::optional{last_};
    return std::max<int64_t>(0, std::min(*n, last_) - first_);
  }
  bool never_ends() const noexcept override { return last_ == endless && inner_->never_ends(); }

 protected:
  expected<iterator_ptr> wrap(iterator_ptr inner, const iterate_options&) const override {
    return std::make_unique<window_iterator>(stage_, std::move(inner), first_, last_);
  }

 private:
  int64_t first_;
  int64_t last_;
};

class streamed_shard_stage final : public streamed_stage {
 public:
  streamed_shard_stage(stage_ptr inner, std::string stage, int64_t count, int64_t index)
    : streamed_stage(std::move(inner), std::move(stage)), count_(count), index_(index) {}

  std::optional<int64_t> elements(bool drop_remainder) const override {
    auto n = inner_->elements(drop_remainder);
    if (n)
      n = *n / count_ + (*n % count_ > index_ ? 1 : 0);
    return n;
  }

 protected:
  expected<iterator_ptr> wrap(iterator_ptr inner, const iterate_options&) const override {
    return std::make_unique<share_iterator>(stage_, std::move(inner), index_, count_);
  }

 private:
  int64_t count_;
  int64_t index_;
};

}  // namespace

iterator_ptr shared(iterator_ptr whole, const iterate_options& options) {
  return std::make_unique<share_iterator>(std::string{share_of_hosts}, std::move(whole), options.host, options.hosts);
}

stage_ptr streamed_batch(stage_ptr inner, std::string stage, int64_t size, std::optional<bool> drop_remainder) {
  return std::make_shared<streamed_batch_stage>(std::move(inner), std::move(stage), size, drop_remainder);
}

stage_ptr streamed_repeat(stage_ptr inner, std::string stage, std::optional<int64_t> epochs) {
  return std::make_shared<streamed_repeat_stage>(std::move(inner), std::move(stage), epochs);
}

stage_ptr streamed_take(stage_ptr inner, std::string stage, int64_t count) {
  return std::make_shared<streamed_window_stage>(std::move(inner), std::move(stage), 0, count);
}

stage_ptr streamed_skip(stage_ptr inner, std::string stage, int64_t count) {
  return std::make_shared<streamed_window_stage>(std::move(inner), std::move(stage), count, endless);
}

stage_ptr streamed_shard(stage_ptr inner, std::string stage, int64_t count, int64_t index) {
  return std::make_shared<streamed_shard_stage>(std::move(inner), std::move(stage), count, index);
}

}  // namespace troupe::input
