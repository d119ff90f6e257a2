// Summaries, sent to the summary writers of event files.
#pragma once

#include "messages/control.hpp"
#include "plan/edge_kinds.hpp"

#include <troupe/summary.hpp>

namespace troupe {

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, histogram& x) {
  return f(caf::meta::type_name("histogram"), x.least, x.greatest, x.count, x.sum, x.sum_of_squares, x.limits, x.counts,
           x.not_finite);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, summary_value& x) {
  auto what = static_cast<uint8_t>(x.what);
  auto load = [&]() -> caf::error {
    x.what = static_cast<summary_value::kind>(what);
    return caf::none;
  };
  return f(caf::meta::type_name("summary_value"), what, x.tag, x.scalar, x.histogram, x.image, x.text,
           caf::meta::load_callback(load));
}

/// The values of a record for another event file.
struct record_part {
  std::string directory;  ///< Relative to the model directory: "ensemble/t0_linear_grow_mean".
  std::vector<summary_value> values;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, record_part& x) {
  return f(caf::meta::type_name("record_part"), x.directory, x.values);
}

/// The summary values of state `step`, for the event files of a job or an evaluation. An outfeed and a chief send
/// records on credit, numbered from 0 within an attempt; a sender of only a few records leaves `number` unset.
struct record {
  int32_t attempt = 0;
  int64_t number = -1;
  int64_t step = 0;
  std::vector<summary_value> values;        ///< For the event file of the model directory.
  std::vector<record_part> elsewhere = {};  ///< For those of other directories.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, record& x) {
  return f(caf::meta::type_name("record"), x.attempt, x.number, x.step, x.values, x.elsewhere);
}

/// Credit: the writer has room for the records below `until_number`.
struct record_credit {
  int32_t attempt = 0;
  int64_t until_number = 0;
  node_id from{};  ///< The summary writer.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, record_credit& x) {
  return f(caf::meta::type_name("record_credit"), x.attempt, x.until_number, x.from);
}

/// A START or CHECKPOINT message of the event file. start: training goes on from state `step`, and summaries of later
/// states that an earlier process wrote no longer count; checkpoint: state `step` was committed under the prefix
/// `path`.
struct note {
  enum kind : uint8_t { start = 1, checkpoint = 2 };
  uint8_t what = start;
  int64_t step = 0;
  std::string path;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, note& x) {
  return f(caf::meta::type_name("note"), x.what, x.step, x.path);
}

/// No record follows: write all records, close the file and end.
struct finish_log {
  int32_t attempt = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, finish_log& x) {
  return f(caf::meta::type_name("finish_log"), x.attempt);
}

}  // namespace troupe
