// Examples of user functions as rows of buffers, and back; what sources and stages that call such functions share.
#pragma once

#include "words/guarded.hpp"

#include <troupe/dataset_iterator.hpp>

namespace troupe::input {

/// " pixels uint8[784] -> label int64[]".
std::string to_text(const element_spec& spec);

/// The spec with each side sorted by name. invalid_argument, which begins with `what`: no feature, a name twice or
/// empty, a negative extent, more axes than a batch leaves room for, more bytes than there can be.
expected<element_spec> checked_spec(element_spec spec, const std::string& what);
/// invalid_argument: a name of `what` that is empty, or has a line break, which would end its line in a position.
expected<void> check_name(const std::string& name, const std::string& what);

/// Copies examples to and from one row of each component's buffer. Any thread may call.
class example_rows {
 public:
  explicit example_rows(element_spec spec) : spec_(std::move(spec)) {}

  const element_spec& spec() const noexcept { return spec_; }
  /// invalid_argument naming the component that is missing, not in the spec, or of another dtype or shape.
  expected<void> write(const example_tensors& example, std::span<std::byte* const> into) const;
  example_tensors read(std::span<std::byte* const> from) const;
  /// Moves every pointer on by one row.
  void advance(std::span<std::byte*> rows) const;

 private:
  element_spec spec_;
};

/// The buffers of one example.
class example_buffer {
 public:
  explicit example_buffer(const element_spec& spec);
  std::span<std::byte* const> rows() const noexcept { return rows_; }

 private:
  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::byte*> rows_;
};

/// Calls `call`, which calls a function of the user's and returns an expected. Errors begin with `where`, such as
/// "generator, example 5"; an exception becomes an error that says whose it is. The categories out_of_range and
/// cancelled have a meaning of their own where data are read, so errors with them become `state`.
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
