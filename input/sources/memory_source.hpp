// Examples in memory: rows of tensors, copied as they are or converted while they are copied.
#pragma once

#include "input/streams/indexed_node.hpp"

namespace troupe::input {

/// One component, as it lies in memory: axis 0 of `rows` is the example.
struct column {
  enum class conversion : uint8_t {
    none,        ///< The same bytes.
    unit_float,  ///< uint8 -> float32, byte / 255: a quarter of the memory, and of the bandwidth, of floats kept.
    to_int32,    ///< uint8 -> int32.
  };

  component what;  ///< As it is delivered.
  tensor rows;
  conversion convert = conversion::none;
  std::string path = {};      ///< The file that the rows were read from, if it was one.
  int64_t modified = 0;       ///< Its time, in seconds since the epoch.
};

/// `name` is the source's in texts, "idx(train-images)". Columns are sorted by name here.
/// invalid_argument: no feature, a scalar, a name given twice, or counts that differ, naming the components.
expected<dataset> memory_source(std::string name, std::vector<column> features, std::vector<column> labels);

}  // namespace troupe::input
