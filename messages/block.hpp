// Blocks: consecutive batches from an infeed to a replica, in one message.
#pragma once

#include "messages/control.hpp"

namespace troupe {

/// Batches `step` … `step + count - 1` of one edge, one after the other: component c is a tensor [count × rows of the
/// whole batch, ...]; the reader's rows are [first_row, first_row + rows) of each batch. Complete when sent, never
/// modified after.
/// On an edge of calls: the entry of step `step`, whose components are the tensors of the host calls that are due.
struct block {
  int32_t attempt = 0;
  edge_id edge{};
  int64_t step = 0;
  int64_t count = 0;
  int64_t first_row = 0;
  int64_t rows = 0;
  std::vector<tensor> components;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, block& x) {
  return f(caf::meta::type_name("block"), x.attempt, x.edge, x.step, x.count, x.first_row, x.rows, x.components);
}

/// Follows the last block of an edge: there is no batch `first_missing_step`, for the reason in `kind`; the steps of
/// all earlier batches are still made.
struct end_of_data {
  int32_t attempt = 0;
  edge_id edge{};
  int64_t first_missing_step = 0;
  error cause;  ///< The reason as an error, for every kind.
  end_kind kind = end_kind::data;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, end_of_data& x) {
  return f(caf::meta::type_name("end_of_data"), x.attempt, x.edge, x.first_missing_step, x.cause, x.kind);
}

}  // namespace troupe
