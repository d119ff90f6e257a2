#include <troupe/summary.hpp>

namespace troupe {

std::string_view to_string(summary_value::kind k) noexcept {
  switch (k) {
    case summary_value::kind::scalar: return "scalar";
    case summary_value::kind::histogram: return "histogram";
    case summary_value::kind::image: return "image";
    case summary_value::kind::text: return "text";
  }
  return "unknown";
}

}  // namespace troupe
