// Calls of code that is not ours: model functions, stages of an input, hooks, loggers, executors. What it throws ends no thread
// and leaves none of our functions: it becomes an error, next to the call.
#pragma once

#include <troupe/error.hpp>

#include <type_traits>
#include <typeinfo>

namespace troupe {

/// In a catch clause: the exception at hand as an error (state) that names `who` let it out:
/// "an exception left <who>: <its text>", without the text where it is no std::exception.
error thrown_by(std::string_view who);

/// "my::early_stop", as it is written in the source.
std::string type_name(const std::type_info& type);

namespace detail {
template <class T>
struct guarded_result { using type = expected<T>; };
template <class T>
struct guarded_result<expected<T>> { using type = expected<T>; };
}  // namespace detail

/// Calls `call`: its result, or what it threw as above. A call that returns an `expected` is passed on as it is.
template <class Call>
auto guarded(std::string_view who, Call&& call) -> typename detail::guarded_result<std::invoke_result_t<Call>>::type {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Call>>) {
      call();
      return {};
    } else {
      return call();
    }
  } catch (...) {
    return fail(thrown_by(who));
  }
}

}  // namespace troupe
