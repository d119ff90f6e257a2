// Which call of a plan was the first to make something that is not finite of what was.
#pragma once

#include "compute/planner/plan.hpp"
#include "compute/program/numeric_fault.hpp"

namespace troupe {

/// Told of every call of one run, before and after it. A value that is not finite has the origin of the operands it was
/// made of, or is one itself; so what stays without effect, as e^-inf, is no origin of what comes after it.
class fault_search {
 public:
  /// Both are to live as long as the search. The bases are those of the run.
  fault_search(const plan& p, const std::vector<std::byte*>& bases);

  void before(size_t call);
  void after(size_t call);

  struct origin {
    int32_t call = -1;   ///< -1: a variable, a component fed or a constant.
    int32_t value = -1;
    int64_t count = 0;   ///< Elements that are not finite,
    int64_t first = -1;  ///<   the first of them,
    std::string what;    ///<   and what that is: "nan".
  };
  /// Where what `value` holds comes from; null while that is finite.
  const origin* origin_of(int32_t value);

  /// Variable, component or constant: all of it. Operation: what can be said when all calls before it have run.
  numeric_fault describe(const origin& o) const;

 private:
  int32_t holder(int32_t value) const;         ///< The value that a call yields, or that no call does, behind views.
  const std::byte* at(int32_t value) const;
  void tell_wholes(int32_t part);              ///< Those that are made by their parts, in their places.
  int32_t examine(int32_t value, int32_t call);  ///< The origin that it is itself, if it is not finite.
  std::string place(int32_t value) const;      ///< "log at model.cpp:12".
  std::string operand_text(int32_t value, const origin& o) const;

  const plan& plan_;
  const std::vector<std::byte*>& bases_;
  static constexpr int32_t finite = -1, unknown = -2;
  std::vector<int32_t> state_;    ///< By value: unknown (nobody has looked), finite, or the number of its origin.
  std::vector<bool> made_;        ///< By value: a call yields it.
  std::vector<origin> origins_;   ///< In the order in which they came up.
  int32_t inherited_ = finite;    ///< Of the call that is about to run.
};

}  // namespace troupe
