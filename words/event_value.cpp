#include <troupe/event_value.hpp>

namespace troupe {

std::string_view to_string(event_value::form f) noexcept {
  switch (f) {
    case event_value::form::texts: return "texts";
    case event_value::form::tensor: return "tensor";
    case event_value::form::opaque: return "other";
  }
  return "unknown";
}

}  // namespace troupe
