#include "compute/engine/row_cache.hpp"

#include "words/expect.hpp"

#include <climits>

#include <algorithm>
#include <cstring>

namespace troupe {

namespace {

class cached_engine final : public step_engine {
 public:
  explicit cached_engine(row_cache_options o)
    : computed_(std::move(o.computed)), loss_(std::move(o.loss)), loss_reads_(o.loss_reads),
      rows_component_(o.rows_component), source_rows_(o.source_rows), shown_(computed_->exposed().size() - o.extra) {
    const auto all = computed_->exposed();
    for (const auto& c : all)
      kept_.push_back({c.row_bytes(),
                       std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(c.row_bytes() * source_rows_))});
    scratch_.resize(all.size());
    is_kept_.resize(static_cast<size_t>(source_rows_));
  }

  step_status expose(int64_t step, const batch_feeds& in, int arena) override {
    const auto to = destinations(in);
    const auto rows = rows_of(in);
    if (!all_kept(rows)) {
      auto whole = in;
      whole.exposed = to;
      const auto status = computed_->expose(step, whole, arena);
      last_ = computed_.get();
      if (status == step_status::ok)
        keep(rows, to);
      return status;
    }
    for (size_t c = 0; c < to.size(); ++c)
      for (size_t i = 0; i < rows.size(); ++i)
        std::memcpy(to[c] + static_cast<int64_t>(i) * kept_[c].row_bytes, kept_row(c, rows[i]),
                    static_cast<size_t>(kept_[c].row_bytes));
    feeds_.assign(in.components.begin(), in.components.end());
    feeds_.push_back(to[loss_reads_]);
    const batch_feeds of_loss{.components = feeds_, .rows = in.rows};
    last_ = loss_.get();
    return loss_->expose(step, of_loss, 0);
  }
  double loss() const override { return last_->loss(); }
  error last_error() const override { return last_->last_error(); }

  void initialise(uint64_t seed) override {
    forget();
    computed_->initialise(seed);
  }
  expected<void> assign(const std::string& name, int64_t first, const tensor& elements) override {
    forget();
    return computed_->assign(name, first, elements);
  }

  // The rest is that of the engine that computes.

  std::span<const component> inputs() const override { return computed_->inputs(); }
  std::span<const program_output> outputs() const override { return computed_->outputs(); }
  std::span<const component> exposed() const override { return computed_->exposed().first(shown_); }
  step_status gradients(int64_t step, const batch_feeds& in, int arena) override {
    const auto to = destinations(in);
    auto whole = in;
    whole.exposed = to;
    last_ = computed_.get();
    return computed_->gradients(step, whole, arena);
  }
  tensor gradient() const override { return computed_->gradient(); }
  void apply(int64_t step, const tensor& sum, int from, int to) override { computed_->apply(step, sum, from, to); }
  void scale_rate(double factor) override { computed_->scale_rate(factor); }
  step_status evaluate(int64_t step, const batch_feeds& in, int arena) override {
    last_ = computed_.get();
    return computed_->evaluate(step, in, arena);
  }
  std::vector<tensor> values() const override { return computed_->values(); }
  summary_recipes summaries() const override { return computed_->summaries(); }
  recorded_sets recorded(int arena) const override { return computed_->recorded(arena); }
  std::vector<observable> observables() const override { return computed_->observables(); }
  metric_functions metrics() const override { return computed_->metrics(); }
  std::vector<program_output> measured() const override { return computed_->measured(); }
  std::vector<tensor> take_measured() override { return computed_->take_measured(); }
  std::vector<std::vector<tensor>> observed() const override { return computed_->observed(); }
  std::optional<numeric_fault> find_fault(int64_t step, const batch_feeds& in, int arena) override {
    return computed_->find_fault(step, in, arena);
  }
  bool finite(const tensor& sum) const override { return computed_->finite(sum); }
  std::vector<stored_piece> pieces(int arena) const override { return computed_->pieces(arena); }
  int arenas() const override { return computed_->arenas(); }

 private:
  struct kept_component {
    int64_t row_bytes = 0;
    std::unique_ptr<std::byte[]> memory;
  };

  std::span<const int64_t> rows_of(const batch_feeds& in) const {
    return {reinterpret_cast<const int64_t*>(in.components[rows_component_]), static_cast<size_t>(in.rows)};
  }
  /// Where the exposed components go: those that nobody else reads into memory of this engine.
  std::vector<std::byte*> destinations(const batch_feeds& in) {
    expect(in.exposed.size() == shown_, "a retired group does not expose what its readers read");
    std::vector<std::byte*> to(in.exposed.begin(), in.exposed.end());
    for (size_t c = shown_; c < kept_.size(); ++c) {
      scratch_[c].resize(static_cast<size_t>(in.rows * kept_[c].row_bytes));
      to.push_back(scratch_[c].data());
    }
    return to;
  }
  bool all_kept(std::span<const int64_t> rows) const {
    return std::all_of(rows.begin(), rows.end(), [&](int64_t row) {
      expect(row >= 0 && row < source_rows_, "an example has a row that its source does not have");
      return static_cast<bool>(is_kept_[static_cast<size_t>(row)]);
    });
  }
  const std::byte* kept_row(size_t component, int64_t row) const {
    return kept_[component].memory.get() + row * kept_[component].row_bytes;
  }
  void keep(std::span<const int64_t> rows, std::span<std::byte* const> from) {
    for (size_t c = 0; c < from.size(); ++c)
      for (size_t i = 0; i < rows.size(); ++i)
        std::memcpy(kept_[c].memory.get() + rows[i] * kept_[c].row_bytes,
                    from[c] + static_cast<int64_t>(i) * kept_[c].row_bytes, static_cast<size_t>(kept_[c].row_bytes));
    for (const int64_t row : rows)
      is_kept_[static_cast<size_t>(row)] = true;
  }
  void forget() { is_kept_.assign(is_kept_.size(), false); }

  std::unique_ptr<step_engine> computed_, loss_;
  size_t loss_reads_, rows_component_;
  int64_t source_rows_;
  size_t shown_;  ///< Number of components that others read.
  std::vector<kept_component> kept_;
  std::vector<std::vector<std::byte>> scratch_;
  std::vector<bool> is_kept_;
  std::vector<const std::byte*> feeds_;
  const step_engine* last_ = computed_.get();  ///< The engine that has made the last step.
};

}  // namespace

int64_t row_cache_bytes(std::span<const component> exposed, int64_t source_rows) {
  int64_t row = 0;
  for (const auto& c : exposed)
    row += c.row_bytes();
  return row > 0 && source_rows > INT64_MAX / row ? INT64_MAX : row * source_rows;
}

std::unique_ptr<step_engine> make_cached_engine(row_cache_options options) {
  return std::make_unique<cached_engine>(std::move(options));
}

}  // namespace troupe
