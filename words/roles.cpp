#include "words/roles.hpp"

namespace troupe {

std::string_view to_string(role r) noexcept {
  switch (r) {
    case role::infeed: return "infeed";
    case role::replica: return "replica";
    case role::reducer: return "reducer";
    case role::outfeed: return "outfeed";
    case role::checkpoint_writer: return "checkpoint_writer";
    case role::summary_writer:
    case role::eval_summary_writer: return "summary_writer";
    case role::evaluator: return "evaluator";
    case role::predictor: return "predictor";
    case role::callbacks: return "callbacks";
    case role::chief: return "chief";
  }
  return "unknown";
}

}  // namespace troupe
