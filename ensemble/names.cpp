#include "ensemble/names.hpp"

#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// The texts in one.
std::string text_of(std::initializer_list<std::string_view> parts) { return joined(parts, ""); }

std::string scope_of(int64_t iteration) { return "adanet/iteration_" + std::to_string(iteration) + "/"; }

std::string number_suffix(size_t head) { return head == 0 ? "" : "_" + std::to_string(head); }

bool may_be_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
         || std::string_view{"_.-/"}.find(c) != std::string_view::npos;
}

/// Whether a part between slashes is empty, "." or "..".
bool has_odd_part(std::string_view name) {
  for (size_t first = 0; first <= name.size();) {
    const size_t slash = std::min(name.find('/', first), name.size());
    if (const auto part = name.substr(first, slash - first); part.empty() || part == "." || part == "..")
      return true;
    first = slash + 1;
  }
  return false;
}

}  // namespace

std::string grow_candidate_name(std::string_view builder) { return text_of({builder, "_grow"}); }
std::string solo_candidate_name(std::string_view builder) { return text_of({builder, "_solo"}); }

std::string subnetwork_spec_name(int64_t iteration, std::string_view builder) {
  return text_of({"t", std::to_string(iteration), "_", builder});
}

std::string ensemble_spec_name(int64_t iteration, std::string_view candidate, std::string_view ensembler) {
  return text_of({"t", std::to_string(iteration), "_", candidate, "_", ensembler});
}

std::string placeholder_name(std::string_view subnetwork_spec) { return text_of({"dummy_", subnetwork_spec}); }

std::string pool_builder_name(std::string_view class_name, size_t index) {
  return text_of({class_name, std::to_string(index)});
}

expected<void> check_name(std::string_view what, std::string_view name) {
  const auto refuse = [&](std::string_view why) {
    return fail(errc::invalid_argument, text_of({what, " ", quoted(printable(name)), " ", why}));
  };
  if (name.empty())
    return refuse("has no name");
  if (!std::all_of(name.begin(), name.end(), may_be_in_name))
    return refuse("has a name with characters other than letters, digits and _.-/");
  if (has_odd_part(name))
    return refuse("has a name with an empty part, '.' or '..' between slashes");
  return {};
}

std::string architecture_file(int64_t iteration) { return "architecture-" + std::to_string(iteration) + ".json"; }

std::string stop_mark_file(int64_t iteration, std::string_view spec) {
  return text_of({"train_manager/t", std::to_string(iteration), "/", spec, ".json"});
}

std::string subnetwork_directory(std::string_view spec) { return text_of({"subnetwork/", spec}); }
std::string ensemble_directory(std::string_view spec) { return text_of({"ensemble/", spec}); }

std::string subnetwork_scope(int64_t iteration, std::string_view builder) {
  return text_of({scope_of(iteration), "subnetwork_", subnetwork_spec_name(iteration, builder)});
}

std::string subnetwork_step_key(int64_t iteration, std::string_view builder) {
  return subnetwork_scope(iteration, builder) + "/step";
}

std::string ensemble_scope(int64_t iteration, std::string_view spec) {
  return text_of({scope_of(iteration), "ensemble_", spec});
}

std::string ensemble_step_key(int64_t iteration, std::string_view spec) {
  return ensemble_scope(iteration, spec) + "/step";
}

std::string mixture_weight_key(int64_t iteration, std::string_view spec, size_t member, size_t head) {
  return text_of({ensemble_scope(iteration, spec), "/weighted_subnetwork_", std::to_string(member), "/logits",
                  number_suffix(head), "/mixture_weight"});
}

std::string bias_key(int64_t iteration, std::string_view spec, size_t head) {
  return text_of({ensemble_scope(iteration, spec), "/bias", number_suffix(head)});
}

loss_average_keys loss_average_keys_of(int64_t iteration, std::string_view spec) {
  const auto value = text_of({scope_of(iteration), "candidate_", spec, "/adanet_loss"});
  const auto penalty = text_of({scope_of(iteration), "candidate_", spec, "/adanet_penalty"});
  return {value, value + "/biased", value + "/local_step", penalty, penalty + "/biased"};
}

std::string to_text(const head_key& key) {
  if (const auto* number = std::get_if<int64_t>(&key))
    return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&key))
    return *text;
  return joined(std::get<std::vector<std::string>>(key), "_");
}

std::string head_suffix(const std::optional<head_key>& key) { return key ? "_" + to_text(*key) : ""; }

}  // namespace troupe
