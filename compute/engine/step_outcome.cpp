#include "compute/engine/step_outcome.hpp"

#include "compute/program/numeric_fault.hpp"
#include "words/severity.hpp"

namespace troupe {

namespace {

/// Whether the error of `x` is reported instead of that of `than`. Among equals the lowest replica's error is reported.
bool outranks(const step_outcome& x, const step_outcome& than) {
  if (x.status == step_status::ok || than.status == step_status::ok)
    return x.status != step_status::ok;
  const auto fails = [](const step_outcome& o) { return end_kind_of(o.status) == end_kind::failed; };
  // A cancellation by one replica is not the end of the data that another one reached: this step may be made again.
  if (fails(x) != fails(than))
    return fails(x);
  return severity_of(x.status) > severity_of(than.status);
}

/// Names the first variable whose gradient is not finite, and each replica whose part of the sum is not finite.
std::vector<std::string> notes_on(const parameter_layout& layout, std::span<const tensor> parts, const tensor& sum) {
  std::vector<std::string> notes;
  if (const auto fault = first_fault(layout, sum.data()))
    notes.push_back(to_string(*fault));
  for (size_t r = 0; r < parts.size(); ++r)
    if (const auto fault = first_fault(layout, parts[r].data()))
      notes.push_back("on replica/" + std::to_string(r) + " " + to_string(*fault));
  notes.emplace_back(notes.size() > 1 ? debug_numerics_hint
                                      : "every replica's part of it is finite: their sum overflowed");
  return notes;
}

}  // namespace

step_outcome joined(std::span<const step_outcome> of_replicas) {
  step_status all = step_status::ok;
  const auto* worst = &of_replicas.front();
  for (const auto& o : of_replicas) {
    all = all | o.status;
    if (outranks(o, *worst))
      worst = &o;
  }
  step_outcome whole{all, worst->cause};
  for (const auto& o : of_replicas)
    if (&o != worst && worst->cause.category == errc::nan_loss && o.cause.category == errc::nan_loss)
      whole.cause.notes.push_back("so it was on " + o.cause.source + ": " + o.cause.message);
  return whole;
}

step_outcome not_finite_sum(const parameter_layout& layout, std::span<const tensor> parts, const tensor& sum,
                            int64_t step) {
  return {step_status::not_finite,
          error{errc::nan_loss, "the reduced gradient is not finite", notes_on(layout, parts, sum), "reduction", step}};
}

}  // namespace troupe
