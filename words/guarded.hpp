// Guards calls of foreign code: model functions, stages of an input, hooks, loggers, executors. An exception neither
// ends a thread nor passes through our functions: it becomes an error at the call.
#pragma once

#include <troupe/error.hpp>

#include <type_traits>
#include <typeinfo>

namespace troupe {

/// Call it in a catch clause. Returns the current exception as an error (state) naming `who`: "an exception left <who>:
/// <its text>", without the text if it is not a std::exception.
error thrown_by(std::string_view who);

/// The type's name as in source code, such as "my::early_stop".
std::string type_name(const std::type_info& type);

namespace detail {
template <class T>
struct guarded_result {
  using type = expected<T>;
};
template <class T>
struct guarded_result<expected<T>> {
  using type = expected<T>;
};
}  // namespace detail

/// Calls `call` and returns its result; an exception becomes the error of `thrown_by`. A result that is an `expected`
/// is returned as it is.
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
