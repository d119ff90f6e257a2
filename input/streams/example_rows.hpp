// Converts the examples of user functions to rows of buffers, and back. Used by the sources and stages that call such
// functions.
#pragma once

#include "words/guarded.hpp"

#include <troupe/dataset_iterator.hpp>

namespace troupe::input {

/// The spec as text: " pixels uint8[784] -> label int64[]".
std::string to_text(const element_spec& spec);

/// Returns the spec with features and labels sorted by name. Error: invalid_argument, which begins with `what`: no
/// feature, an empty name or one that occurs twice, a negative extent, more axes than a batch allows, or a size that
/// overflows.
expected<element_spec> checked_spec(element_spec spec, const std::string& what);
/// Error: invalid_argument if the name of `what` is empty, or has a line break, which would end its line in a position.
expected<void> check_name(const std::string& name, const std::string& what);

/// Copies examples to and from buffers: one row in each component's buffer. Any thread may use it.
class example_rows {
 public:
  explicit example_rows(element_spec spec) : spec_(std::move(spec)) {}

  const element_spec& spec() const noexcept { return spec_; }
  /// Error: invalid_argument naming the component that is missing, is not in the spec, or has another dtype or shape.
  expected<void> write(const example_tensors& example, std::span<std::byte* const> into) const;
  example_tensors read(std::span<std::byte* const> from) const;
  /// Advances every pointer by one row.
  void advance(std::span<std::byte*> rows) const;

 private:
  element_spec spec_;
};

/// Buffers for one example.
class example_buffer {
 public:
  explicit example_buffer(const element_spec& spec);
  std::span<std::byte* const> rows() const noexcept { return rows_; }

 private:
  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::byte*> rows_;
};

/// Calls `call`, which calls a user's function and returns an expected. Messages of returned errors begin with `where`,
/// such as "generator, example 5". An exception becomes an error that says that the user's function threw it. Errors
/// out_of_range and cancelled become `state`, since these two have their own meaning when data are read.
template <class Call>
auto ask_user(const std::string& where, Call&& call) {
  return guarded("the function of " + where, [&] {
    auto result = call();
    if (!result) {
      error& e = result.error();
      e.message = where + ": " + e.message;
      if (e.category == errc::out_of_range || e.category == errc::cancelled)
        e.category = errc::state;
    }
    return result;
  });
}

}  // namespace troupe::input
