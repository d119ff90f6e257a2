#include "compute/parameters/initializers.hpp"
#include "words/zeroed_buffer.hpp"

#include <cstring>

namespace troupe {

struct parameter_store::impl {
  parameter_layout layout;
  std::vector<std::shared_ptr<std::byte>> arenas;
  std::shared_ptr<std::byte> shared;

  std::byte* at(int arena, const parameter_entry& e) const {
    return (e.updated ? arenas[static_cast<size_t>(arena)].get() : shared.get()) + e.offset;
  }
  const std::shared_ptr<std::byte>& owner(int arena, const parameter_entry& e) const {
    return e.updated ? arenas[static_cast<size_t>(arena)] : shared;
  }
};

parameter_store::parameter_store(std::unique_ptr<impl> i) : impl_(std::move(i)) {}

expected<std::shared_ptr<parameter_store>> parameter_store::create(parameter_layout layout, int arenas) {
  auto i = std::make_unique<impl>();
  i->shared = allocate_zeroed_buffer(layout.shared_bytes());
  bool all = i->shared != nullptr;
  for (int a = 0; a < arenas; ++a) {
    i->arenas.push_back(allocate_zeroed_buffer(layout.arena_bytes()));
    all = all && i->arenas.back();
  }
  if (!all)
    return fail(errc::resource_exhausted, "no memory for " + std::to_string(arenas) + " arenas of "
                                              + std::to_string(layout.arena_bytes()) + " bytes and "
                                              + std::to_string(layout.shared_bytes()) + " shared ones");
  i->layout = std::move(layout);
  // Also fills the padding, which updates treat like the elements before it: a rule may divide by the root of a slot.
  for (const auto& e : i->layout.entries())
    if (e.slot && e.initial.what != initializer::kind::zeros) {
      parameter_entry whole = e;
      whole.dims = shape{padded_bytes(e) / size_of(e.type)};
      for (int a = 0; a < arenas; ++a)
        troupe::initialise(whole, 0, i->at(a, e));
    }
  return std::shared_ptr<parameter_store>{new parameter_store(std::move(i))};
}

const parameter_layout& parameter_store::layout() const noexcept { return impl_->layout; }
std::byte* parameter_store::arena(int index) noexcept { return impl_->arenas[static_cast<size_t>(index)].get(); }
const std::byte* parameter_store::arena(int index) const noexcept {
  return impl_->arenas[static_cast<size_t>(index)].get();
}
std::byte* parameter_store::shared() noexcept { return impl_->shared.get(); }
const std::byte* parameter_store::shared() const noexcept { return impl_->shared.get(); }
int parameter_store::arenas() const noexcept { return static_cast<int>(impl_->arenas.size()); }

void parameter_store::initialise(uint64_t seed) {
  const auto entries = impl_->layout.entries();
  for (const auto& e : entries)
    if (e.starts_as_variable)  // The entry of the variable comes before that of its slot.
      std::memcpy(impl_->at(0, e), impl_->at(0, entries[static_cast<size_t>(e.variable)]),
                  static_cast<size_t>(e.dims.elements() * size_of(e.type)));
    else
      troupe::initialise(e, seed, impl_->at(0, e));
}

expected<void> parameter_store::assign(std::string_view name, const tensor& value) {
  const int32_t i = impl_->layout.find(name);
  if (i < 0)
    return fail(errc::not_found, "no variable named '" + std::string{name} + "'");
  const auto& e = impl_->layout.entries()[static_cast<size_t>(i)];
  if (value.type() != e.type || value.dims() != e.dims)
    return fail(errc::invalid_argument, "'" + std::string{name} + "' is " + std::string{to_string(e.type)} + " "
                                            + to_text(e.dims) + ", not " + std::string{to_string(value.type())} + " "
                                            + to_text(value.dims()));
  std::memcpy(impl_->at(0, e), value.data(), static_cast<size_t>(value.byte_size()));
  return {};
}

tensor parameter_store::view(int arena, int32_t entry) const {
  const auto& e = impl_->layout.entries()[static_cast<size_t>(entry)];
  return {e.type, e.dims, std::shared_ptr<const std::byte>{impl_->owner(arena, e), impl_->at(arena, e)}};
}

tensor parameter_store::view(int arena, const parameter_piece& piece) const {
  const auto& e = impl_->layout.entries()[static_cast<size_t>(piece.entry)];
  return {
      e.type, shape{piece.count},
      std::shared_ptr<const std::byte>{impl_->owner(arena, e), impl_->at(arena, e) + piece.first * size_of(e.type)}};
}

}  // namespace troupe
