// Examples in memory: rows of tensors, copied as they are or converted while they are copied.
#pragma once

#include "input/streams/indexed_node.hpp"

namespace troupe::input {

/// One component in memory: axis 0 of `rows` is the example.
struct column {
  enum class conversion : uint8_t {
    none,        ///< Bytes are copied unchanged.
    unit_float,  ///< uint8 -> float32, byte / 255: needs a quarter of the memory and bandwidth of stored floats.
    to_int32,    ///< uint8 -> int32.
  };

  component what;  ///< The component as delivered.
  tensor rows;
  conversion convert = conversion::none;
  std::string path = {};      ///< The file that the rows were read from, if any.
  int64_t modified = 0;       ///< The file's time, in seconds since the epoch.
};

/// `name` is the source's name in texts, "idx(train-images)". Columns are sorted by name here. invalid_argument: no
/// feature, a scalar, a name given twice, or counts that differ, naming the components.
expected<dataset> memory_source(std::string name, std::vector<column> features, std::vector<column> labels);

}  // namespace troupe::input
