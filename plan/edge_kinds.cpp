#include "plan/edge_kinds.hpp"

#include <algorithm>
#include <array>

namespace troupe {

namespace {

constexpr std::array rows{
    edge_row{.what = edge_kind::data,
             .name = "data",
             .message = "block",
             .from = set_of(role::infeed, role::replica),
             .to = set_of(role::replica),
             .own_credit = true,
             .credit = {3, int64_t{2} << 20},
             .held_by = "pull, which its reader sends"},
    edge_row{.what = edge_kind::report,
             .name = "report",
             .message = "step_report",
             .from = set_of(role::replica),
             .to = set_of(role::outfeed),
             .held_by = "the horizon, which its driver grants"},
    edge_row{.what = edge_kind::gradient,
             .name = "gradient",
             .message = "gradient_part",
             .from = set_of(role::replica),
             .to = set_of(role::reducer),
             .within_group = true,
             .credit = {1, {}},
             .held_by = "its sender, which waits for the sum"},
    edge_row{.what = edge_kind::part,
             .name = "part",
             .message = "snapshot_part",
             .from = set_of(role::infeed, role::replica, role::chief, role::summary_writer),
             .to = set_of(role::checkpoint_writer, role::summary_writer),
             .credit = {saves_in_progress_max + 1, {}},
             .held_by = "the chief, which marks no more saves"},
    edge_row{.what = edge_kind::record,
             .name = "record",
             .message = "record",
             .from = set_of(role::outfeed),
             .to = set_of(role::summary_writer),
             .credit = {initial_record_credit, {}},
             .held_by = "record_credit, which its reader sends"},
    edge_row{.what = edge_kind::call,
             .name = "call",
             .message = "block",
             .from = set_of(role::replica),
             .to = set_of(role::outfeed),
             .credit = {64, int64_t{32} << 20},
             .held_by = "pull, which its reader sends"},
};

static_assert(are_in_order(rows));

}  // namespace

std::span<const edge_row> edge_rows() noexcept { return rows; }
const edge_row& row_of(edge_kind k) noexcept { return rows[static_cast<size_t>(k)]; }
std::string_view to_string(edge_kind k) noexcept { return row_of(k).name; }

}  // namespace troupe
