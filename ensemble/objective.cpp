#include "ensemble/objective.hpp"

#include "words/expect.hpp"
#include "words/text.hpp"

#include <cmath>

namespace troupe {

namespace {

constexpr int logits_rank_max = 2, last_layer_rank_max = 3;

bool is_weight(double x) { return std::isfinite(x) && x >= 0; }

expected<void> refuse_shape(errc category, const member_shapes& m, std::string_view what, const shape& dims,
                            std::string_view why) {
  return fail(category, (m.name + " has ").append(what) + " of shape " + to_text(dims) + ": " + std::string{why});
}

int64_t last_extent(const shape& dims) { return dims[dims.rank() - 1]; }

expected<void> check_ranks(mixture_weight type, const member_shapes& m) {
  if (m.logits.rank() == 0)
    return refuse_shape(errc::invalid_argument, m, "logits", m.logits, "the first axis must be the batch");
  if (type != mixture_weight::matrix && m.logits.rank() > logits_rank_max)
    return refuse_shape(errc::unimplemented, m, "logits", m.logits,
                        "scalar and vector weights support a rank of at most 2");
  if (type != mixture_weight::matrix)
    return {};
  if (m.last_layer.rank() > last_layer_rank_max)
    return refuse_shape(errc::unimplemented, m, "a last layer", m.last_layer,
                        "matrix weights support a rank of at most 3");
  if (m.last_layer.rank() < 2)
    return refuse_shape(errc::invalid_argument, m, "a last layer", m.last_layer,
                        "matrix weights need a rank of at least 2");
  return {};
}

/// The shape of the weighted logits.
shape output_shape(mixture_weight type, const member_shapes& m) {
  if (type != mixture_weight::matrix)
    return m.logits;
  const auto outer = m.last_layer.extents();
  return shape{outer.first(outer.size() - 1)}.append(bias_size(m.logits));
}

}  // namespace

expected<void> validate(const complexity_weights& weights) {
  for (const auto& [name, value] : {std::pair{"adanet_lambda", weights.lambda}, std::pair{"adanet_beta", weights.beta}})
    if (!is_weight(value))
      return fail(errc::invalid_argument,
                  std::string{name} + " must be finite and at least 0, not " + shortest_text(value));
  return {};
}

expected<void> check_complexity(std::string_view builder, double complexity) {
  if (is_weight(complexity))
    return {};
  return fail(errc::invalid_argument, "the builder " + quoted(builder) + " reports the complexity "
                                          + shortest_text(complexity) + ", which must be finite and at least 0");
}

shape mixture_weight_shape(mixture_weight type, const member_shapes& member) {
  switch (type) {
    case mixture_weight::scalar: return {};
    case mixture_weight::vector: return {bias_size(member.logits)};
    case mixture_weight::matrix: return {last_extent(member.last_layer), bias_size(member.logits)};
  }
  expect(false, "there is no such type of mixture weights");
  return {};
}

expected<void> check_members(mixture_weight type, std::span<const member_shapes> members) {
  for (const auto& member : members) {
    if (auto right = check_ranks(type, member); !right)
      return right;
    const auto first = output_shape(type, members.front()), own = output_shape(type, member);
    if (own != first)
      return fail(errc::invalid_argument, "members of one ensemble must have weighted logits of one shape: those of "
                                              + members.front().name + " are " + to_text(first) + ", those of "
                                              + member.name + " are " + to_text(own));
  }
  return {};
}

std::vector<weight_start> weight_starts(mixture_weight type, std::span<const size_t> kept, size_t new_members,
                                        bool warm_start) {
  const size_t members = kept.size() + new_members;
  const float fill = type == mixture_weight::matrix ? 0.f : 1.f / static_cast<float>(members);
  std::vector<weight_start> starts(members, weight_start{.fill = fill});
  if (warm_start)
    for (size_t i = 0; i < kept.size(); ++i)
      starts[i].inherited = kept[i];
  return starts;
}

bias_start bias_start_of(size_t previous, size_t kept, bool warm_start) {
  if (!warm_start || previous == 0)
    return {};
  if (kept == previous)
    return {.inherited = true};
  return {.remark = "the bias begins with 0, because the ensemble keeps " + std::to_string(kept) + " of the "
                    + std::to_string(previous) + " members of the previous one, for all of which it was learned"};
}

int64_t bias_size(const shape& logits) { return logits.rank() < 2 ? 1 : last_extent(logits); }

}  // namespace troupe
