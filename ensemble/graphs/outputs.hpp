// The outputs of subnetworks as symbols: by head, and under the names by which one group reads them from another.
//
// A port carries one output of one group, and is called like the feature that the reader gets:
//
//   adanet/t0_dnn/logits           the logits of the subnetwork t0_dnn
//   adanet/t0_dnn/last_layer_a     its last layer for the head "a"
//   adanet/t0_dnn/hidden           another output, which later builders may read
//   adanet/t0_dnn_grow_mean/logits the logits of the ensemble that won iteration 0
#pragma once

#include <troupe/heads.hpp>
#include <troupe/search/subnetwork.hpp>

#include <set>

namespace troupe {

// -- by head -------------------------------------------------------------------------

/// The symbol of one head. A model with one head, or with all heads side by side, has one without a name.
struct head_symbol {
  std::optional<std::string> head = {};
  std::string suffix = {};  ///< "_a", or empty.
  symbol value = {};
};
/// In the order of the heads' names.
std::vector<head_symbol> heads_of(const by_head& x);
/// All heads side by side, in the order of the head.
symbol side_by_side(const by_head& x, const head& h);
bool is_missing(const by_head& x);

/// The outputs of a subnetwork by their names: "logits_a", "last_layer", "hidden".
std::map<std::string, symbol> outputs_of(const subnetwork& made);

// -- between groups --------------------------------------------------------------------

inline constexpr std::string_view logits_output = "logits", last_layer_output = "last_layer";
/// "adanet/t0_dnn/logits": the name of an out-port, an in-port and a feature.
std::string port_name(std::string_view spec, std::string_view output);
/// Whether a feature of this name comes from another group.
bool is_port(std::string_view feature);
/// The features without those that come through ports.
features data_features(graph& g, const features& all);
/// The port of a builder's own data, which are "adanet/own/<name>".
inline constexpr std::string_view own_data_port = "adanet/own";
/// The features or labels of a builder's own data, by their names.
named_symbols own_data(graph& g, const named_symbols& all);
/// The labels without those of a builder's own data.
labels search_labels(graph& g, const labels& all);
/// The prediction with which a builder with data of its own shows its loss on those of the search.
inline constexpr std::string_view search_loss_prediction = "adanet/loss_on_search_data";
/// Placeholders of another graph with the names, dtypes and shapes of these.
named_symbols placeholders_like(graph& other, const named_symbols& these);
/// The symbol's shape as a shape of the member's rows; unknown extents are 0, so that shapes can be compared and shown.
shape shape_of(symbol s);

// -- contents --------------------------------------------------------------------------

/// A feature that is no port, and that models do not see: the source row of each example.
inline constexpr std::string_view source_row_feature = "adanet/source_row";

/// Names created while it lives begin with `<scope>/`; an empty scope adds nothing. Unlike `graph::scope` it may be
/// opened again. Scopes that are open do not matter.
class fixed_scope {
 public:
  fixed_scope(graph& g, const std::string& scope);
  fixed_scope(const fixed_scope&) = delete;
  fixed_scope& operator=(const fixed_scope&) = delete;
  ~fixed_scope();

 private:
  graph& graph_;
};

/// How many variables the graph has.
size_t variable_count(const graph& g);
/// Makes the variables from number `first` on keep their values: neither an optimizer nor the model changes them.
void freeze(graph& g, size_t first = 0);
/// Takes back the summaries that the model records.
void drop_summaries(graph& g);
/// Lets each check of numbers that depend on variables pass everything, so that predictions that are not finite are
/// values like others. Checks of features and labels stay.
void accept_any_prediction(graph& g);
/// Keeps the error in `to`, unless it has one.
void pass_error(const graph& from, graph& to);

}  // namespace troupe
