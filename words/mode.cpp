#include <troupe/model.hpp>

namespace troupe {

std::string_view to_string(mode m) noexcept {
  switch (m) {
    case mode::train: return "train";
    case mode::evaluate: return "evaluate";
    case mode::predict: return "predict";
  }
  return "unknown";
}

}  // namespace troupe
