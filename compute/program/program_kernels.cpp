// The kernels of a program, and a run that is watched kernel by kernel.
#include "compute/kernels/denormals.hpp"
#include "compute/program/program_impl.hpp"

namespace troupe {

std::vector<kernel_facts> program::describe() const { return troupe::describe(impl_->draft); }

step_status program::watch(const step_input& in, std::byte* gradient, const std::function<void(size_t)>& after) {
  const flush_denormals tiny_is_zero;
  impl_->bind(in, gradient);
  for (size_t k = 0; k < impl_->calls.size(); ++k) {
    if (is_called(impl_->calls[k], in.record))
      impl_->compute(k);
    after(k);
  }
  return impl_->end(gradient);
}

}  // namespace troupe
