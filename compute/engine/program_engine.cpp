// The step engine that runs planned programs.
#include "compute/engine/bound_programs.hpp"
#include "compute/engine/called_tensors.hpp"
#include "compute/engine/carried_rows.hpp"
#include "compute/engine/loss_meter.hpp"
#include "compute/engine/model_summaries.hpp"
#include "compute/engine/shard_sums.hpp"
#include "compute/parameters/assign_range.hpp"
#include "words/buffer_pool.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace troupe {

namespace {

class program_engine final : public step_engine {
 public:
  explicit program_engine(program_engine_options options)
    : options_(std::move(options)), model_(options_.graph), programs_(options_), called_(*model_) {}

  expected<void> prepare() {
    local_shards_ = options_.shards / options_.replicas;
    if (options_.shards % options_.replicas != 0
        || (local_shards_ > 1 && !std::has_single_bit(static_cast<uint32_t>(local_shards_))))
      return fail(errc::invalid_argument, std::to_string(options_.shards) + " gradient shards cannot be divided among "
                                              + std::to_string(options_.replicas) + " replicas into powers of two");
    if (options_.batch_rows % local_shards_ != 0)
      return fail(errc::invalid_argument, "a replica's batch of " + std::to_string(options_.batch_rows)
                                              + " rows cannot be cut into " + std::to_string(local_shards_)
                                              + " gradient shards");
    auto first = programs_.find(options_.batch_rows / local_shards_);
    if (!first)
      return fail(first.error());
    current_ = *first;
    slice_ = layout().slice(options_.replica, options_.replicas);
    if (model_->what == mode::train)
      if (auto allocated = sums_.allocate(layout(), local_shards_); !allocated)
        return allocated;
    losses_.resize(static_cast<size_t>(local_shards_));
    const auto all = current_->outputs();
    const auto states = carried_states(contents_of(model_->g)).size();
    outputs_ = all.size() - options_.expose.size() - states;
    for (const auto& o : all.subspan(outputs_, options_.expose.size()))
      exposed_.push_back({o.name, o.type, o.dims.inner()});
    if (auto ready = carried_.prepare(options_, all.last(states), outputs_ + exposed_.size()); !ready)
      return ready;
    feeds_.resize(current_->inputs().size() + states);
    measured_ = metric_totals{measured()};
    sums_at_.resize(current_->measured().size());
    return {};
  }

  std::span<const component> inputs() const override { return current_->inputs(); }
  std::span<const program_output> outputs() const override { return current_->outputs().first(outputs_); }
  std::span<const component> exposed() const override { return exposed_; }

  step_status gradients(int64_t step, const batch_feeds& in, int arena) override {
    if (auto ready = bind(in, local_shards_); ready != step_status::ok)
      return ready;
    if (auto room = begin_calls(in, local_shards_); room != step_status::ok)
      return room;
    recorded_.clear();
    observed_.clear();
    sums_.begin();
    for (int32_t shard = 0; shard < local_shards_; ++shard) {
      const auto status = current_->gradients(input(step, in, arena, shard), sums_.at());
      losses_[static_cast<size_t>(shard)] = current_->loss();
      if (status != step_status::ok)
        return status;
      copy_exposed(in, shard);
      carried_.keep(*current_, shard);
      called_.keep(*current_, shard);
      keep(in);
      measure(in);
      sums_.add(layout());
    }
    return step_status::ok;
  }

  step_status expose(int64_t step, const batch_feeds& in, int arena) override {
    if (auto ready = bind(in, local_shards_, true); ready != step_status::ok)
      return ready;
    recorded_.clear();
    observed_.clear();
    auto unrecorded = in;
    unrecorded.record = unrecorded.observe = unrecorded.measure = false;
    unrecorded.calls = 0;
    for (int32_t shard = 0; shard < local_shards_; ++shard) {
      if (const auto status = current_->run(input(step, unrecorded, arena, shard)); status != step_status::ok)
        return status;
      losses_[static_cast<size_t>(shard)] = current_->loss();
      copy_exposed(in, shard);
      carried_.keep(*current_, shard);
    }
    return step_status::ok;
  }

  tensor gradient() const override { return sums_.total(layout()); }

  int64_t norm_chunks() const override { return current_->norm_chunks(); }
  void share_squares(std::span<double> squares) override { squares_ = squares; }
  void measure(gradient_view sum) override { current_->measure(slice_, sum, squares_); }
  void apply(int64_t step, const tensor& sum, int from, int to) override {
    current_->apply(own(step), slice_, sum.data(), options_.store->arena(from), options_.store->arena(to), rate_factor_,
                    squares_);
  }
  void scale_rate(double factor) override { rate_factor_ = factor; }
  void carry(int arena) override { carried_.carry(*current_, arena); }

  step_status evaluate(int64_t step, const batch_feeds& in, int arena) override {
    if (auto ready = bind(in, 1); ready != step_status::ok)
      return ready;
    if (auto room = begin_calls(in, 1); room != step_status::ok)
      return room;
    const auto status = current_->run(input(step, in, arena, 0));
    losses_.front() = current_->loss();
    if (status == step_status::ok)
      called_.keep(*current_, 0);
    return status;
  }

  std::optional<numeric_fault> find_fault(int64_t step, const batch_feeds& in, int arena) override {
    const bool trains = model_->what == mode::train;
    const int32_t shards = trains ? local_shards_ : 1;
    auto again = in;
    again.record = again.observe = again.measure = false;
    again.calls = 0;
    again.exposed = {};
    if (bind(again, shards) != step_status::ok)
      return std::nullopt;
    // Without fusion the bits are the same, but each element-wise operation is a separate kernel, so the first bad one
    // can be found.
    const auto apart = program::make(
        model_->g, model_->spec, layout(),
        {.batch = rows_, .shards = options_.shards, .seed = options_.seed, .fuse = false, .expose = options_.expose});
    if (!apart)
      return std::nullopt;
    for (int32_t shard = 0; shard < shards; ++shard)
      if (auto found = (*apart)->find_fault(input(step, again, arena, shard), trains ? sums_.at() : nullptr)) {
        if (found->row >= 0)
          found->row += shard * rows_;
        if (shards > 1)
          found->details.push_back("in gradient shard " + std::to_string(options_.replica * shards + shard) + " of "
                                   + std::to_string(options_.shards));
        return found;
      }
    // Every shard is finite, but their sum may still overflow.
    if (!trains || gradients(step, again, arena) != step_status::ok)
      return std::nullopt;
    auto found = first_fault(layout(), gradient().data());
    if (found)
      found->details.push_back("every gradient shard of it is finite, their sum is not");
    return found;
  }

  double loss() const override { return tree_mean(losses_); }

  std::vector<tensor> values() const override {
    std::vector<tensor> all;
    for (size_t i = 0; i < outputs_; ++i)
      all.push_back(current_->output(static_cast<int32_t>(i)));
    return all;
  }

  summary_recipes summaries() const override { return recipes_of(*model_, options_.first_step); }

  recorded_sets recorded(int arena) const override {
    recorded_sets sets;
    int32_t recipes = 0;
    for (const auto& of_shard : recorded_) {
      recipes = 0;
      for (auto& set = sets.emplace_back(); const auto& t : of_shard)
        set.push_back({recipes++, t});
    }
    if (options_.replica != 0 || sets.empty())
      return sets;
    for (const auto* v : shown_variables(*model_)) {
      const int32_t at = layout().find(v->name);
      const auto& e = layout().entries()[static_cast<size_t>(at)];
      const auto bytes = e.dims.elements() * size_of(e.type);
      auto copy = copies_.take(bytes);
      if (!copy)
        return sets;  // Omits the remaining variables: a missing summary is no reason to end a job.
      std::memcpy(copy.get(), options_.store->view(arena, at).data(), static_cast<size_t>(bytes));
      sets.front().push_back({recipes++, {e.type, e.dims, std::move(copy)}});
    }
    return sets;
  }

  std::vector<observable> observables() const override {
    std::vector<observable> all;
    if (model_->what == mode::train)
      for (const auto& o : contents_of(model_->g).observed)
        all.push_back({o.name, o.per_row});
    return all;
  }

  std::vector<std::vector<tensor>> observed() const override { return observed_; }

  metric_functions metrics() const override { return functions_of(model_->spec.metrics); }

  std::vector<program_output> measured() const override {
    const auto sums = programs_.first().measured();
    return {sums.begin(), sums.end()};
  }

  std::vector<tensor> take_measured() override {
    if (measured_.batches() == 0)
      return {};
    auto totals = measured_.totals();
    measured_.clear();
    return totals;
  }

  const host_call_forms& calls() const override { return called_.forms(); }
  call_entry take_called() override { return called_.take(); }

  error last_error() const override { return binding_error_ ? *binding_error_ : current_->last_error(); }

  bool finite(const tensor& sum) const override {
    return current_->is_finite(layout(), {0, layout().gradient_bytes()}, sum.data());
  }

  std::vector<stored_piece> pieces(int arena) const override {
    std::vector<stored_piece> all;
    for (const auto& p : layout().pieces(options_.replica, options_.replicas)) {
      const auto& e = layout().entries()[static_cast<size_t>(p.entry)];
      all.push_back({e.name, e.dims, p.first, e.trainable, options_.store->view(arena, p), e.carried});
    }
    return all;
  }

  expected<tensor> variable(const std::string& name, int arena) const override {
    const auto entry = layout().find(name);
    if (entry < 0)
      return fail(errc::not_found, "the model has no variable or slot '" + name + "'");
    if (layout().entries()[static_cast<size_t>(entry)].carried)
      return fail(errc::invalid_argument,
                  "'" + name + "' is a carried state, of which each replica writes its rows by itself");
    const auto here = options_.store->view(arena, entry);
    try {
      return tensor::copy_of(here.type(), here.dims(), {here.data(), static_cast<size_t>(here.byte_size())});
    } catch (const std::bad_alloc&) {
      return fail(errc::resource_exhausted,
                  "no memory for a copy of '" + name + "', " + std::to_string(here.byte_size()) + " bytes");
    }
  }

  int arenas() const override { return options_.store->arenas(); }

  void initialise(uint64_t seed) override { options_.store->initialise(seed); }
  expected<void> assign(const std::string& name, int64_t first, const tensor& elements) override {
    return assign_range(*options_.store, name, first, elements);
  }

 private:
  const parameter_layout& layout() const { return options_.store->layout(); }

  /// The group's own number of a step of the job.
  int64_t own(int64_t step) const {
    assert(step >= options_.first_step);
    return step - options_.first_step;
  }

  /// Copies the exposed rows of the shard that ran last.
  void copy_exposed(const batch_feeds& in, int32_t shard) const {
    for (size_t c = 0; c < in.exposed.size(); ++c) {
      const auto bytes = current_->output_bytes(static_cast<int32_t>(outputs_ + c));
      std::memcpy(in.exposed[c] + shard * rows_ * exposed_[c].row_bytes(), bytes.data(), bytes.size());
    }
  }

  /// Keeps the summary tensors and observed values of the shard that ran last, as far as `in` requests them.
  void keep(const batch_feeds& in) {
    if (in.record)
      recorded_.push_back(current_->recorded());
    if (in.observe)
      observed_.push_back(current_->observed());
  }

  /// Adds the metric sums of the shard that ran last, if the step is measured.
  void measure(const batch_feeds& in) {
    if (!in.measure || sums_at_.empty())
      return;
    for (size_t i = 0; i < sums_at_.size(); ++i)
      sums_at_[i] = current_->measured_at(static_cast<int32_t>(i));
    measured_.add(sums_at_);
  }

  step_status begin_calls(const batch_feeds& in, int32_t shards) {
    if (called_.begin(*current_, in.calls, shards))
      return step_status::ok;
    binding_error_ = error{errc::resource_exhausted, "no memory for the tensors of this step's host calls"};
    return step_status::bad_input;
  }

  step_status bind(const batch_feeds& in, int32_t shards, bool forward_only = false) {
    binding_error_ = carried_.refusal_of(in.rows);
    if (binding_error_)
      return step_status::bad_input;
    rows_ = in.rows / shards;
    if (auto* first = programs_.first_if(rows_, forward_only)) {
      current_ = first;
      return step_status::ok;
    }
    if (in.rows % shards != 0) {
      binding_error_ = error{errc::invalid_argument, "a batch of " + std::to_string(in.rows)
                                                         + " rows cannot be cut into " + std::to_string(shards)
                                                         + " gradient shards"};
      return step_status::bad_input;
    }
    auto bound = programs_.find(rows_, forward_only);
    if (!bound) {
      binding_error_ = bound.error();
      return step_status::bad_input;
    }
    current_ = *bound;
    return step_status::ok;
  }

  step_input input(int64_t step, const batch_feeds& in, int arena, int32_t shard) {
    for (size_t c = 0; c < order_.size(); ++c)
      feeds_[c] = in.components[order_[c]] + shard * rows_ * row_bytes_[c];
    carried_.feed(in, arena, shard * rows_, std::span{feeds_}.subspan(order_.size()));
    return {
        own(step),
        options_.replica * local_shards_ + shard,
        options_.store->arena(arena),
        options_.store->shared(),
        feeds_,
        called_tensors::recording_of(in.calls)
            | (in.record || in.observe || (in.measure && options_.measure == measuring::when_recording) ? record_values
                                                                                                        : 0),
        options_.cancel.get()};
  }

 public:
  /// Finds the index of each of the program's inputs among the delivered components.
  expected<void> find_inputs() {
    const auto& delivered = options_.delivered;
    for (const auto& wanted : current_->inputs()) {
      const auto at = std::find_if(delivered.begin(), delivered.end(),
                                   [&](const auto& c) { return c.name == wanted.name; });
      if (at == delivered.end())
        return fail(errc::key_missing, "the model is fed " + wanted.name + ", which the dataset does not have");
      order_.push_back(static_cast<size_t>(at - delivered.begin()));
      row_bytes_.push_back(at->row_bytes());
    }
    return {};
  }

 private:
  program_engine_options options_;
  std::shared_ptr<const model_graph> model_;
  bound_programs programs_;
  program* current_ = nullptr;
  size_t outputs_ = 0;  ///< Number of the program's outputs that are not exposed.
  std::vector<component> exposed_;
  carried_rows carried_;
  called_tensors called_;
  std::pair<int64_t, int64_t> slice_;
  std::span<double> squares_;  ///< Of the collective's; empty: `apply` measures.
  double rate_factor_ = 1;
  int32_t local_shards_ = 1;
  int64_t rows_ = 0;
  shard_sums sums_;
  std::vector<double> losses_;
  std::vector<std::vector<tensor>> observed_;  ///< From the last `gradients`, if it observed.
  std::vector<std::vector<tensor>> recorded_;  ///< From the last `gradients`, if it recorded.
  metric_totals measured_;
  std::vector<const std::byte*> sums_at_;  ///< Where the metric sums of the last shard are, in the order of `measured`.
  mutable buffer_pool copies_{64};         ///< Buffers for copies of variables, from which histograms are made.
  std::vector<const std::byte*> feeds_;
  std::vector<size_t> order_;
  std::vector<int64_t> row_bytes_;
  std::optional<error> binding_error_;
};

}  // namespace

expected<std::unique_ptr<step_engine>> make_program_engine(program_engine_options options) {
  auto engine = std::make_unique<program_engine>(std::move(options));
  auto ready = engine->prepare().and_then([&] { return engine->find_inputs(); });
  return ready ? expected<std::unique_ptr<step_engine>>{std::move(engine)} : fail(ready.error());
}

expected<parameter_layout> layout_of(const model_graph& built, int64_t rows) {
  const auto& o = built.spec.optimizer;
  const bool trains = built.what == mode::train;
  auto layout = parameter_layout::of(built.g, trains ? o : std::nullopt, trains ? rows : 0);
  if (layout && built.what != mode::train && o && o->moving_average > 0)
    layout->read_averages();
  return layout;
}

}  // namespace troupe
