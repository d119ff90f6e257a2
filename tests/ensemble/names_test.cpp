#include "ensemble/names.hpp"

#include "tests/support/refused.hpp"

namespace troupe::test {

TEST_CASE("specs, candidates and report keys have the names that AdaNet gives them") {
  CHECK(subnetwork_spec_name(0, "linear") == "t0_linear");
  CHECK(grow_candidate_name("linear") == "linear_grow");
  CHECK(solo_candidate_name("linear") == "linear_solo");
  CHECK(all_candidate_name == "all");
  CHECK(ensemble_spec_name(0, "linear_grow", complexity_regularized_name) == "t0_linear_grow_complexity_regularized");
  CHECK(ensemble_spec_name(12, all_candidate_name, mean_name) == "t12_all_mean");
  CHECK(placeholder_name(subnetwork_spec_name(1, "dnn")) == "dummy_t1_dnn");
  CHECK(pool_builder_name("LinearEstimator", 0) == "LinearEstimator0");
  CHECK(previous_ensemble_name == "previous_ensemble");
}

TEST_CASE("files of a search lie where AdaNet writes them") {
  CHECK(architecture_file(3) == "architecture-3.json");
  CHECK(stop_mark_file(1, "t1_dnn") == "train_manager/t1/t1_dnn.json");
  CHECK(reports_file == "report/iteration_reports.json");
}

TEST_CASE("variables of a checkpoint have AdaNet's keys, and the first head has no number in them") {
  CHECK(current_iteration_key == "adanet/current_iteration");
  CHECK(global_step_key == "global_step");
  CHECK(subnetwork_scope(2, "dnn") == "adanet/iteration_2/subnetwork_t2_dnn");
  CHECK(subnetwork_step_key(2, "dnn") == "adanet/iteration_2/subnetwork_t2_dnn/step");
  CHECK(mixture_weight_key(0, "t0_all_mean", 3)
        == "adanet/iteration_0/ensemble_t0_all_mean/weighted_subnetwork_3/logits/mixture_weight");
  CHECK(mixture_weight_key(0, "t0_all_mean", 3, 2)
        == "adanet/iteration_0/ensemble_t0_all_mean/weighted_subnetwork_3/logits_2/mixture_weight");
  CHECK(bias_key(0, "t0_all_mean") == "adanet/iteration_0/ensemble_t0_all_mean/bias");
  CHECK(bias_key(0, "t0_all_mean", 1) == "adanet/iteration_0/ensemble_t0_all_mean/bias_1");
  CHECK(ensemble_step_key(0, "t0_all_mean") == "adanet/iteration_0/ensemble_t0_all_mean/step");
  const auto keys = loss_average_keys_of(0, "t0_all_mean");
  CHECK(keys.value == "adanet/iteration_0/candidate_t0_all_mean/adanet_loss");
  CHECK(keys.biased == keys.value + "/biased");
  CHECK(keys.count == keys.value + "/local_step");
}

TEST_CASE("[ADA-22.2 multi-head keys] a tuple is joined with underscores as the suffix of a head") {
  CHECK(head_suffix(head_key{std::vector<std::string>{"bar", "baz"}}) == "_bar_baz");
}

TEST_CASE("each key of a head becomes a suffix, also 0 (QUIRK-7), and a single head has none") {
  CHECK(head_suffix(std::nullopt) == "");
  CHECK(head_suffix(head_key{int64_t{0}}) == "_0");
  CHECK(head_suffix(head_key{int64_t{7}}) == "_7");
  CHECK(head_suffix(head_key{std::string{"income"}}) == "_income");
  CHECK(head_suffix(head_key{std::string{}}) == "_");
}

TEST_CASE("a name that would leave its folder or confuse a tag is refused with what it may consist of") {
  for (const std::string right : {"linear", "2_layer_dnn", "nasnet/cell-3.v2", "a..b", "-"})
    CHECK(check_name("the builder", right));
  refused(check_name("the builder", ""), errc::invalid_argument, "the builder '' has no name");
  for (const auto& wrong : std::vector<std::string>{"a b", "größe", "a\nb", "a:b", {"a\0b", 3}})
    refused(check_name("the builder", wrong), errc::invalid_argument, "characters other than letters, digits and _.-/");
  for (const std::string wrong : {"..", ".", "a/../b", "../a", "/a", "a/", "a//b"})
    refused(check_name("the builder", wrong), errc::invalid_argument, "an empty part, '.' or '..'");
}

}  // namespace troupe::test
