// Reads the evaluations in event files, for rules that look at them.
#include "storage/examination/examination.hpp"

namespace troupe {

expected<evaluation_history> read_evaluations(const std::string& directory) {
  return read_evaluations(*posix_file_system(), directory);
}

}  // namespace troupe
