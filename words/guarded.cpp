#include "words/guarded.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <memory>

namespace troupe {

error thrown_by(std::string_view who) {
  const auto left = [who](const std::string& text) {
    return error{errc::state, "an exception left " + std::string{who} + text};
  };
  try {
    throw;
  } catch (const std::exception& e) {
    return left(std::string{": "} + e.what());
  } catch (...) {
    return left("");
  }
}

std::string type_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name{abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                    std::free};
  return status == 0 && name ? name.get() : type.name();
}

}  // namespace troupe
