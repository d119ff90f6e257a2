#include "actors/exit_reason.hpp"

#include "words/ended_by_error.hpp"
#include "words/expect.hpp"

#include <caf/exit_reason.hpp>
#include <caf/message.hpp>
#include <caf/sec.hpp>

#include <new>

namespace troupe {

namespace {

constexpr auto of_an_error = caf::atom("troupe");  // The CAF category of reasons that carry a message.

}  // namespace

caf::error to_reason(const error& cause) {
  // No category is 0, which CAF takes for no error.
  return {static_cast<uint8_t>(cause.category), of_an_error, caf::make_message(cause.message)};
}

caf::error to_reason(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return to_reason(error{errc::resource_exhausted, "there is no more memory"});
  } catch (const ended_by_error& e) {
    return to_reason(e.cause());
  } catch (const broken_invariant& e) {
    return to_reason(error{errc::state, std::string{"an invariant is broken: "} + e.what()});
  } catch (const std::exception& e) {
    return to_reason(error{errc::aborted, std::string{"an exception left a handler: "} + e.what()});
  } catch (...) {
    return caf::sec::runtime_error;
  }
}

errc category_of(const caf::error& reason) {
  return reason && reason.category() == of_an_error ? static_cast<errc>(reason.code()) : errc::aborted;
}

std::string describe(const caf::error& reason) {
  if (!reason)
    return "it ended normally";
  if (reason.category() == of_an_error && reason.context().match_elements<std::string>())
    return reason.context().get_as<std::string>(0);
  if (reason == caf::exit_reason::kill)
    return "it was killed";
  if (reason == caf::sec::runtime_error)
    return "an exception left a handler";
  if (reason.category() == caf::atom("exit"))
    return caf::to_string(static_cast<caf::exit_reason>(reason.code()));
  if (reason.category() == caf::atom("system"))
    return caf::to_string(static_cast<caf::sec>(reason.code()));
  return "code " + std::to_string(reason.code());
}

}  // namespace troupe
