// Runs a program: calls its kernels in order. An operand is at a base plus an offset. A run takes no lock and allocates
// nothing.
#include "compute/kernels/denormals.hpp"
#include "compute/kernels/element_text.hpp"
#include "compute/program/program_impl.hpp"
#include "words/zeroed_buffer.hpp"

#include <cmath>

namespace troupe {
namespace {

constexpr uintptr_t alignment = 64;

/// [0, end) without the written ranges.
std::vector<std::pair<int64_t, int64_t>> gaps_between(std::vector<std::pair<int64_t, int64_t>> written, int64_t end) {
  std::sort(written.begin(), written.end());
  std::vector<std::pair<int64_t, int64_t>> gaps;
  int64_t at = 0;
  for (const auto& [first, last] : written) {
    if (at < first)
      gaps.emplace_back(at, first);
    at = last;
  }
  if (at < end)
    gaps.emplace_back(at, end);
  return gaps;
}

}  // namespace

expected<void> program::impl::prepare(const graph_contents& g, std::vector<program_output> named,
                                      std::vector<int32_t> values, const parameter_layout& layout, bool predicts,
                                      bool trains_) {
  arena = allocate_zeroed_buffer(draft.arena_bytes);
  if (!arena)
    return fail(errc::resource_exhausted, "no memory for an arena of " + std::to_string(draft.arena_bytes) + " bytes");
  for (int32_t node : g.placeholders) {
    const auto& v = draft.value(node);
    inputs.push_back({v.name, v.type, v.dims.rank() > 0 ? v.dims.inner() : v.dims});
    feeds.push_back({v.bytes(), v.copy_offset});
  }
  for (const auto& s : carried_states(g)) {
    const auto& v = draft.value(s.node);
    feeds.push_back({v.bytes(), v.copy_offset});
  }
  bases.assign(base_feeds + feeds.size(), nullptr);
  bases[base_arena] = arena.get();
  for (const auto& v : draft.values)
    if (v.constant.elements() > 0 && v.where.offset >= 0)
      std::memcpy(arena.get() + v.where.offset, v.constant.data(), static_cast<size_t>(v.constant.byte_size()));
  for (auto& c : draft.calls) {
    const auto shares = kernels_of(draft, c);
    c.shares = static_cast<int>(shares.size());
    calls.push_back(shares.front());
    others_of.emplace_back(others.size(), static_cast<int>(shares.size()) - 1);
    others.insert(others.end(), shares.begin() + 1, shares.end());
    const lowering l{draft, c};
    c.flops = c.op->flops ? c.op->flops(l) : 0;
    flops += c.flops;
  }
  states.resize(pool ? static_cast<size_t>(draft.threads) : 0);
  kept = std::move(values);
  outputs = std::move(named);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto& v = draft.value(kept[i]);
    outputs[i].type = v.type;
    outputs[i].dims = v.dims;
  }
  has_loss = !predicts;
  if (has_loss) {
    loss_type = draft.value(kept[0]).type;
    loss_at = draft.place_of(kept[0]);
  }
  trains = trains_;
  if (trains) {
    std::vector<std::pair<int64_t, int64_t>> written;
    for (const auto& v : g.variables)
      if (const int32_t at = layout.find(v.options.name); (v.options.trainable || v.next >= 0) && at >= 0) {
        const auto& e = layout.entries()[static_cast<size_t>(at)];
        if (e.gradient_offset < 0)
          continue;
        const int64_t bytes = e.dims.elements() * size_of(e.type);
        written.emplace_back(e.gradient_offset, e.gradient_offset + bytes);
        gradients.push_back({e.gradient_offset, bytes, e.name, !e.trainable});
      }
    for (const auto& s : layout.sparse())
      if (std::any_of(written.begin(), written.end(), [&](const auto& w) { return w.first == s.first; }))
        written.emplace_back(s.bits, s.bits + (s.rows + 63) / 64 * 8);
    gaps = gaps_between(std::move(written), layout.gradient_bytes());
  }
  return {};
}

void program::impl::bind(const step_input& in, std::byte* gradient) {
  assert(in.feeds.size() == feeds.size());
  bases[base_parameters] = const_cast<std::byte*>(in.parameters);  // Kernels only read here.
  bases[base_shared] = const_cast<std::byte*>(in.shared);
  bases[base_gradient] = gradient;
  for (size_t i = 0; i < feeds.size(); ++i) {
    const std::byte* from = in.feeds[i];
    if (reinterpret_cast<uintptr_t>(from) % alignment != 0 && feeds[i].copy_offset >= 0) {
      std::memcpy(arena.get() + feeds[i].copy_offset, from, static_cast<size_t>(feeds[i].bytes));
      from = arena.get() + feeds[i].copy_offset;
    }
    bases[base_feeds + i] = const_cast<std::byte*>(from);
  }
  last = {.bases = bases.data(), .step = in.step, .shard = in.shard};
  std::fill(states.begin(), states.end(), last);
  recorded = in.record;
}

void program::impl::compute(size_t call) {
  const kernel_call& whole = calls[call];
  const auto [first, count] = others_of[call];
  if (count == 0)
    return whole.run(whole, last);
  pool->run(count + 1, [&, first = first](int share) {
    const kernel_call& c = share == 0 ? whole : others[first + static_cast<size_t>(share) - 1];
    c.run(c, share == 0 ? last : states[static_cast<size_t>(share)]);
  });
  for (int share = 1; share <= count && !last.bad.call; ++share)
    if (last.bad = states[static_cast<size_t>(share)].bad; last.bad.call)
      last.bad.call = &whole;
}

step_status program::impl::run(const step_input& in, std::byte* gradient) {
  bind(in, gradient);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (in.cancel && in.cancel->load(std::memory_order_relaxed))
      return step_status::cancelled;
    if (!is_called(calls[i], in.record))
      continue;
    compute(i);
  }
  return end(gradient);
}

step_status program::impl::end(std::byte* gradient) {
  for (const auto& [first, last_byte] : gaps)
    std::memset(gradient + first, 0, static_cast<size_t>(last_byte - first));
  step_status status = last.bad.call ? step_status::bad_input : step_status::ok;
  if (has_loss && !last.bad.call && !std::isfinite(loss()))
    status = status | step_status::not_finite;
  return status;
}

double program::impl::loss() const {
  if (!has_loss)
    return 0;
  const std::byte* at = address(loss_at);
  return loss_type == dtype::float64 ? *reinterpret_cast<const double*>(at)
                                     : static_cast<double>(*reinterpret_cast<const float*>(at));
}

step_status program::gradients(const step_input& in, std::byte* gradient) {
  assert(impl_->trains);
  const flush_denormals tiny_is_zero;
  return impl_->run(in, gradient);
}

step_status program::run(const step_input& in) {
  assert(!impl_->trains);
  const flush_denormals tiny_is_zero;
  return impl_->run(in, nullptr);
}

error program::last_error() const {
  const auto& s = impl_->last;
  error e{errc::invalid_argument, {}};
  e.step = s.step;
  if (!s.bad.call) {
    e.message = "no bad input in the last run";
    return e;
  }
  const auto& call = impl_->draft.calls[static_cast<size_t>(s.bad.call - impl_->calls.data())];
  const auto& v = impl_->draft.value(call.nodes.empty() ? call.out.back() : call.nodes.front());
  const bool label = call.op->index_is == "label";
  const auto number_text = [](double number) {
    return element_text(dtype::float64, reinterpret_cast<const std::byte*>(&number), 0);
  };
  const std::string place = v.name + place_text(v.at);
  if (call.op == &ops::check_numerics)
    e.message = call.attr.key + ": " + number_text(s.bad.number) + index_text(v.dims, s.bad.index)
                + " is not finite: " + place;
  else if (call.op == &ops::check_range)
    e.message = call.attr.key + ": " + number_text(s.bad.number) + index_text(v.dims, s.bad.index) + " is not in "
                + (std::isinf(call.attr.number) ? "(" : "[") + number_text(call.attr.number) + ", "
                + number_text(call.attr.number2) + (std::isinf(call.attr.number2) ? "): " : "]: ") + place;
  else
    e.message = std::string{call.op->index_is} + " " + std::to_string(s.bad.value)
                + (label ? " of row " : " at position ") + std::to_string(s.bad.index) + " is outside [0, "
                + std::to_string(s.bad.limit) + "): " + place;
  return e;
}

int64_t program::norm_chunks() const noexcept { return impl_->update.norm_chunks(); }

void program::measure(std::pair<int64_t, int64_t> slice, gradient_view gradient, std::span<double> squares) const {
  if (squares.empty())
    return;
  const flush_denormals tiny_is_zero;
  impl_->share_out(slice, [&](int64_t first, int64_t last) {
    impl_->update.measure({first, last}, gradient, squares);
  });
}

void program::apply(int64_t step, std::pair<int64_t, int64_t> slice, const std::byte* gradient, const std::byte* from,
                    std::byte* to, double rate_factor, std::span<const double> squares) {
  const flush_denormals tiny_is_zero;
  const auto& update = impl_->update;
  if (update.norm_chunks() > 0) {
    const gradient_view whole{gradient, gradient + update.flat_bytes()};
    if (squares.empty())
      measure({0, update.flat_bytes()}, whole, impl_->squares);
    impl_->update.prepare(whole, squares.empty() ? std::span<const double>{impl_->squares} : squares);
  }
  if (!update.divides())
    return update.apply(step, slice, gradient, from, to, rate_factor);
  impl_->share_out(slice, [&](int64_t first, int64_t last) {
    update.apply(step, {first, last}, gradient, from, to, rate_factor);
  });
}

bool program::is_finite(const parameter_layout& layout, std::pair<int64_t, int64_t> slice,
                        const std::byte* gradient) const {
  std::atomic<bool> all = true;
  impl_->share_out(slice, [&](int64_t first, int64_t last) {
    if (!troupe::is_finite(layout, {first, last}, gradient))
      all.store(false, std::memory_order_relaxed);
  });
  return all.load(std::memory_order_relaxed);
}

std::string to_string(const program_output& output) {
  switch (output.what) {
    case program_output::kind::loss: return "loss";
    case program_output::kind::metric_sum: return output.name + "/" + std::to_string(output.part);
    case program_output::kind::prediction:
    case program_output::kind::exposed:
    case program_output::kind::carried:
    case program_output::kind::called: break;
  }
  return output.name;
}

std::span<const component> program::inputs() const noexcept { return impl_->inputs; }
std::span<const program_output> program::outputs() const noexcept { return impl_->outputs; }
double program::loss() const noexcept { return impl_->loss(); }
int64_t program::arena_bytes() const noexcept { return impl_->draft.arena_bytes; }
int64_t program::live_bytes_max() const noexcept { return impl_->draft.live_bytes_max; }
int64_t program::kernels() const noexcept { return static_cast<int64_t>(impl_->calls.size()); }
int64_t program::flops() const noexcept { return impl_->flops; }
int64_t program::work() const noexcept { return work_of(impl_->draft); }
int program::threads() const noexcept { return impl_->draft.threads; }
std::string program::to_text() const { return troupe::to_text(impl_->draft); }

std::span<const std::byte> program::output_bytes(int32_t index) const noexcept {
  const auto& p = impl_->draft;
  const int32_t value = impl_->kept[static_cast<size_t>(index)];
  return {impl_->address(p.place_of(value)), static_cast<size_t>(p.value(value).bytes())};
}

std::vector<tensor> program::impl::copy(const std::vector<recorded_output>& wanted) const {
  assert((recorded & record_values) != 0 || wanted.empty());
  std::vector<tensor> all;
  for (const auto& r : wanted) {
    const auto& v = draft.value(r.value);
    const auto* at = address(draft.place_of(r.value));
    shape dims = v.dims;
    if (r.rows_max > 0 && dims[0] > r.rows_max)
      dims = dims.inner().prepend(r.rows_max);
    all.push_back(copies.copy_of(v.type, dims, {at, static_cast<size_t>(dims.elements() * size_of(v.type))}));
  }
  return all;
}

std::vector<tensor> program::recorded() const { return impl_->copy(impl_->for_summaries); }
std::vector<tensor> program::observed() const { return impl_->copy(impl_->observed); }

std::span<const program_output> program::measured() const noexcept { return impl_->measured_outputs; }
const std::byte* program::measured_at(int32_t index) const noexcept {
  return impl_->address(impl_->draft.place_of(impl_->measured[static_cast<size_t>(index)]));
}

std::span<const program_output> program::called() const noexcept { return impl_->called_outputs; }
std::span<const std::byte> program::called_bytes(size_t call, size_t tensor) const noexcept {
  assert((impl_->recorded & record_call(call)) != 0);
  const int32_t value = impl_->called[call][tensor];
  return {impl_->address(impl_->draft.place_of(value)), static_cast<size_t>(impl_->draft.value(value).bytes())};
}

tensor program::output(int32_t index) const {
  const auto& v = impl_->draft.value(impl_->kept[static_cast<size_t>(index)]);
  return impl_->copies.copy_of(v.type, v.dims, output_bytes(index));
}

}  // namespace troupe
