#include "compute/engine/carried_rows.hpp"

#include "compute/graph/graph.hpp"
#include "compute/parameters/initializers.hpp"
#include "words/planted.hpp"
#include "words/text.hpp"
#include "words/zeroed_buffer.hpp"

#include <cstring>

namespace troupe {

expected<void> carried_rows::prepare(const program_engine_options& options, std::span<const program_output> outputs,
                                     size_t first_output) {
  const auto states = carried_states(contents_of(options.graph->g));
  store_ = options.store;
  first_output_ = first_output;
  batch_rows_ = options.batch_rows;
  trains_ = options.graph->what == mode::train;
  const int32_t shards = trains_ ? options.shards / options.replicas : 1;
  shard_rows_ = batch_rows_ / shards;
  for (size_t s = 0; s < states.size(); ++s) {
    const auto& o = states[s].options;
    carried c{.name = o.name, .lasts = o.lasts, .row_bytes = outputs[s].dims.inner().elements() * size_of(o.type)};
    if (trains_) {
      const int64_t whole = batch_rows_ * options.replicas;
      const int32_t at = store_->layout().find(o.name);
      const auto* e = at < 0 ? nullptr : &store_->layout().entries()[static_cast<size_t>(at)];
      if (!e || e->type != o.type || e->dims != outputs[s].dims.inner().prepend(whole))
        return fail(errc::invalid_argument,
                    "the store has not the " + std::to_string(whole) + " rows of the state " + quoted(o.name));
      c.offset = e->offset + options.replica * batch_rows_ * c.row_bytes;
    }
    const int64_t bytes = batch_rows_ * c.row_bytes;
    // In training a state that lasts the run begins with the store's initial values, or those of a checkpoint.
    const bool begins_again = !trains_ || o.lasts == lifetime::loop;
    if (begins_again)
      c.initial = allocate_zeroed_buffer(bytes);
    if (!trains_)
      c.own = allocate_zeroed_buffer(bytes);
    if (shards > 1)
      c.next = allocate_zeroed_buffer(bytes);
    if ((begins_again && !c.initial) || (!trains_ && !c.own) || (shards > 1 && !c.next))
      return fail(errc::resource_exhausted,
                  "no memory for the state " + quoted(o.name) + " of " + std::to_string(bytes) + " bytes");
    if (begins_again) {
      parameter_entry rows;
      rows.name = o.name;
      rows.type = o.type;
      rows.dims = outputs[s].dims.inner().prepend(batch_rows_);
      rows.initial = o.initial;
      initialise(rows, 0, c.initial.get());
    }
    all_.push_back(std::move(c));
  }
  return {};
}

std::optional<error> carried_rows::refusal_of(int64_t rows) const {
  if (all_.empty() || rows == batch_rows_ || (!trains_ && rows < batch_rows_))
    return std::nullopt;
  return error{errc::invalid_argument,
               "a batch has " + std::to_string(rows) + " rows for this replica, and the model carries "
                   + quoted(all_.front().name) + " for " + std::to_string(batch_rows_)
                   + (trains_ ? ": training with a carried state takes whole batches only (drop_remainder)" : "")};
}

void carried_rows::feed(const batch_feeds& in, int arena, int64_t first_row, std::span<const std::byte*> feeds) const {
  if (planted(planted_fault::rows_of_another_shard))
    first_row = (first_row + shard_rows_) % batch_rows_;
  for (size_t s = 0; s < all_.size(); ++s) {
    const auto& c = all_[s];
    const bool begins = in.begins_run || (in.begins_loop && c.lasts == lifetime::loop);
    feeds[s] = (begins ? c.initial.get() : rows_of(c, arena)) + first_row * c.row_bytes;
  }
}

void carried_rows::keep(const program& p, int32_t shard) {
  for (size_t s = 0; s < all_.size(); ++s)
    if (const auto& c = all_[s]; c.next) {
      const auto rows = p.output_bytes(static_cast<int32_t>(first_output_ + s));
      std::memcpy(c.next.get() + shard * shard_rows_ * c.row_bytes, rows.data(), rows.size());
    }
}

void carried_rows::carry(const program& p, int arena) {
  for (size_t s = 0; s < all_.size(); ++s) {
    const auto& c = all_[s];
    if (c.next) {
      std::memcpy(rows_of(c, arena), c.next.get(), static_cast<size_t>(batch_rows_ * c.row_bytes));
      continue;
    }
    const auto rows = p.output_bytes(static_cast<int32_t>(first_output_ + s));
    std::memcpy(rows_of(c, arena), rows.data(), rows.size());
  }
}

}  // namespace troupe
