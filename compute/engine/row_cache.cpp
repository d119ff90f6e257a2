#include "compute/engine/row_cache.hpp"

#include "words/expect.hpp"

#include <climits>

#include <algorithm>
#include <cstring>

namespace troupe {

namespace {

class cached_engine final : public step_engine {
 public:
  /// `memory`: of each exposed component, for all rows.
  cached_engine(row_cache_options o, std::vector<std::shared_ptr<std::byte>> memory)
    : computed_(std::move(o.computed)), loss_(std::move(o.loss)), loss_reads_(o.loss_reads),
      rows_component_(o.rows_component), source_rows_(o.source_rows), shown_(computed_->exposed().size() - o.extra) {
    const auto all = computed_->exposed();
    for (size_t c = 0; c < all.size(); ++c)
      kept_.push_back({all[c].row_bytes(), std::move(memory[c])});
    scratch_.resize(all.size());
    is_kept_.resize(static_cast<size_t>(source_rows_));
  }

  step_status expose(int64_t step, const batch_feeds& in, int arena) override {
    const auto to = destinations(in);
    const auto rows = rows_of(in);
    wrong_ = find_wrong(rows);
    if (wrong_)
      return step_status::bad_input;
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
  error last_error() const override { return wrong_ ? *wrong_ : last_->last_error(); }

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
  int64_t norm_chunks() const override { return computed_->norm_chunks(); }
  void share_squares(std::span<double> squares) override { computed_->share_squares(squares); }
  void measure(gradient_view sum) override { computed_->measure(sum); }
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
  const host_call_forms& calls() const override { return computed_->calls(); }
  call_entry take_called() override { return computed_->take_called(); }
  std::optional<numeric_fault> find_fault(int64_t step, const batch_feeds& in, int arena) override {
    return computed_->find_fault(step, in, arena);
  }
  bool finite(const tensor& sum) const override { return computed_->finite(sum); }
  std::vector<stored_piece> pieces(int arena) const override { return computed_->pieces(arena); }
  expected<tensor> variable(const std::string& name, int arena) const override {
    return computed_->variable(name, arena);
  }
  int arenas() const override { return computed_->arenas(); }

 private:
  struct kept_component {
    int64_t row_bytes = 0;
    std::shared_ptr<std::byte> memory;
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
  /// The rows come from an iterator, which may be the user's.
  std::optional<error> find_wrong(std::span<const int64_t> rows) const {
    for (const int64_t row : rows)
      if (row < 0 || row >= source_rows_)
        return error{errc::invalid_argument, "the input says that an example is row " + std::to_string(row)
                                                 + " of its source (last_rows), which has "
                                                 + std::to_string(source_rows_) + " rows"};
    return std::nullopt;
  }
  bool all_kept(std::span<const int64_t> rows) const {
    return std::all_of(rows.begin(), rows.end(),
                       [&](int64_t row) { return static_cast<bool>(is_kept_[static_cast<size_t>(row)]); });
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
  std::optional<error> wrong_;                 ///< Of the last step.
  const step_engine* last_ = computed_.get();  ///< The engine that has made the last step.
};

}  // namespace

int64_t row_cache_bytes(std::span<const component> exposed, int64_t source_rows) {
  int64_t row = 0;
  for (const auto& c : exposed)
    row += c.row_bytes();
  return row > 0 && source_rows > INT64_MAX / row ? INT64_MAX : row * source_rows;
}

expected<std::unique_ptr<step_engine>> make_cached_engine(row_cache_options options) {
  std::vector<std::shared_ptr<std::byte>> memory;
  for (const auto& c : options.computed->exposed())
    if (auto rows = allocate_buffer(row_cache_bytes({&c, 1}, options.source_rows)))
      memory.push_back(std::move(rows));
    else
      return fail(errc::resource_exhausted,
                  "there is no memory to keep " + std::to_string(options.source_rows) + " rows of '" + c.name + "'");
  return std::make_unique<cached_engine>(std::move(options), std::move(memory));
}

}  // namespace troupe
