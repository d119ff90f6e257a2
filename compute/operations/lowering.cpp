#include "compute/operations/lowering.hpp"

namespace troupe {

int32_t planned_values::root(int32_t i) const {
  while (value(i).view_of >= 0)
    i = value(i).view_of;
  return i;
}

operand planned_values::place_of(int32_t i) const {
  int64_t offset = 0;
  for (; value(i).view_of >= 0; i = value(i).view_of)
    offset += value(i).view_offset;
  operand at = value(i).where;
  at.offset += at.offset < 0 ? 0 : offset;
  return at;
}

}  // namespace troupe
