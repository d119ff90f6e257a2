#include <troupe/error.hpp>

namespace troupe {

std::string_view to_string(errc category) noexcept {
  switch (category) {
    case errc::invalid_argument: return "invalid_argument";
    case errc::type: return "type";
    case errc::state: return "state";
    case errc::key_missing: return "key_missing";
    case errc::out_of_range: return "out_of_range";
    case errc::aborted: return "aborted";
    case errc::unavailable: return "unavailable";
    case errc::cancelled: return "cancelled";
    case errc::deadline_exceeded: return "deadline_exceeded";
    case errc::failed_precondition: return "failed_precondition";
    case errc::not_found: return "not_found";
    case errc::data_loss: return "data_loss";
    case errc::unimplemented: return "unimplemented";
    case errc::nan_loss: return "nan_loss";
    case errc::resource_exhausted: return "resource_exhausted";
  }
  return "unknown";
}

std::string to_text(const error& e) {
  std::string text{to_string(e.category)};
  text += ": " + e.message;
  if (!e.source.empty() || e.step) {
    text += " (" + e.source;
    if (e.step)
      text += (e.source.empty() ? "step " : ", step ") + std::to_string(*e.step);
    text += ")";
  }
  for (const auto& note : e.notes)
    text += "\n  note: " + note;
  return text;
}

}  // namespace troupe
