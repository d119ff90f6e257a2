// Finds the call of a program that was the first to yield a non-finite value from finite operands.
#pragma once

#include "compute/planner/program_draft.hpp"
#include "compute/program/numeric_fault.hpp"

namespace troupe {

/// Follows one run: it is called before and after every kernel call. A non-finite value inherits the origin of its
/// operands, or is an origin itself. A non-finite value without effect, as in e^-inf, is therefore no origin of later
/// values.
class fault_search {
 public:
  /// `p` and `bases` must outlive the search. The bases are those of the run.
  fault_search(const program_draft& p, const std::vector<std::byte*>& bases);

  void before(size_t call);
  void after(size_t call);

  struct origin {
    int32_t call = -1;  ///< -1: a variable, a component fed or a constant.
    int32_t value = -1;
    int64_t count = 0;   ///< The number of non-finite elements.
    int64_t first = -1;  ///< Index of the first one.
    std::string what;    ///< Its value: "nan".
  };
  /// The origin of the value; null while the value is finite.
  const origin* origin_of(int32_t value);

  /// Describes an origin. If it is an operation, all calls before it must have run last, so that its operands are still
  /// there. The description of a variable, component or constant is always complete.
  numeric_fault describe(const origin& o) const;

 private:
  int32_t holder(int32_t value) const;  ///< Follows views to the value that a call yields, or to the end.
  const std::byte* at(int32_t value) const;
  void tell_wholes(int32_t part);                ///< Passes its state on to concatenations that contain it in place.
  int32_t examine(int32_t value, int32_t call);  ///< `finite`, or the number of a new origin.
  std::string place(int32_t value) const;        ///< "log at model.cpp:12".
  std::string operand_text(int32_t value, const origin& o) const;

  const program_draft& draft_;
  const std::vector<std::byte*>& bases_;
  static constexpr int32_t finite = -1, unknown = -2;
  std::vector<int32_t> state_;   ///< By value: unknown (not examined), finite, or the number of its origin.
  std::vector<bool> made_;       ///< By value: a call yields it.
  std::vector<origin> origins_;  ///< In order of discovery.
  int32_t inherited_ = finite;   ///< The state that the call about to run inherits from its operands.
};

}  // namespace troupe
