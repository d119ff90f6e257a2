// A member that `inspect` omits would be lost only on the way to another process.
#include "messages/interfaces.hpp"

#include <caf/meta/annotation.hpp>
#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace troupe::test {

namespace {

/// Converts to a member of any type.
struct anything {
  template <class T>
  operator T() const;
};

/// The number of members of an aggregate, which is the greatest possible number of initialisers.
template <class T, class... Members>
constexpr size_t members_of() {
  if constexpr (requires { T{{Members{}}..., {anything{}}}; })
    return members_of<T, Members..., anything>();
  else
    return sizeof...(Members);
}

/// An inspector that counts the values that it is shown.
struct counter {
  using result_type = size_t;
  template <class... Ts>
  result_type operator()(Ts&&...) const {
    return (size_t{0} + ... + (caf::meta::is_annotation<std::remove_reference_t<Ts>>::value ? 0 : 1));
  }
};

/// How many values are shown beyond the number of members, for types whose `inspect` splits members.
template <class T>
constexpr size_t taken_apart = 0;
template <>
constexpr size_t taken_apart<hooks_ready> = 1;  // The two facts that hooks may hold.
template <>
constexpr size_t taken_apart<job_event> = 3;  // Flags: it has a goal, a checkpoint, a failure.
template <>
constexpr size_t taken_apart<error> = 1;  // A flag: it has a step.
template <>
constexpr size_t taken_apart<begin> = 1;  // A flag: it has a position.

// The last member is a handle, which `members_of` cannot count, since it can be made of too many types.
template <>
constexpr size_t taken_apart<connect_parts> = 1;
template <>
constexpr size_t taken_apart<connect_reader> = 1;
template <>
constexpr size_t taken_apart<connect_records> = 1;
template <>
constexpr size_t taken_apart<connect_reducer> = 1;
template <>
constexpr size_t taken_apart<connect_reports> = 1;
template <>
constexpr size_t taken_apart<connect_source> = 1;
template <>
constexpr size_t taken_apart<started::node> = 1;
template <>
constexpr size_t taken_apart<state_owner> = 1;

template <class T>
int check_type() {
  if constexpr (std::is_aggregate_v<T> && requires(counter c, T & x) { inspect(c, x); }) {
    T x{};
    counter c;
    const std::string name = typeid(T).name();
    CAPTURE(name);
    CHECK(inspect(c, x) == members_of<T>() + taken_apart<T>);
    return 1;
  } else {
    return 0;
  }
}

template <size_t... Ids>
int check_all(std::index_sequence<Ids...>) {
  return (
      0 + ...
      + check_type<typename caf::type_by_id<static_cast<caf::type_id_t>(caf::id_block::troupe::begin + Ids)>::type>());
}

}  // namespace

TEST_CASE("the inspection of a message shows every member") {
  static_assert(members_of<deadline>() == 2);
  static_assert(members_of<evaluated>() == 11);
  constexpr auto types = caf::id_block::troupe::end - caf::id_block::troupe::begin;
  const auto checked = check_all(std::make_index_sequence<types>{});
  CHECK(checked > 60);
  CHECK(check_type<mark>() + check_type<step_values>() + check_type<variable_piece>() + check_type<recorded_step>()
            + check_type<measured_steps>() + check_type<told_state>() + check_type<loss_point>()
            + check_type<state_owner>() + check_type<checkpoint_choice>() + check_type<checkpoint_id>()
            + check_type<error>() + check_type<job_event>() + check_type<need>() + check_type<named_node>()
            + check_type<started::node>() + check_type<plan_iteration>() + check_type<stored_growth>()
            + check_type<record_part>()
        == 18);
}

}  // namespace troupe::test
