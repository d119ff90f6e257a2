#include "input/streams/row_stage.hpp"

#include "input/streams/position_iterator.hpp"
#include "words/text.hpp"

namespace troupe::input {

std::string row_stage::to_text() const {
  std::vector<std::string> stages;
  describe(stages, nullptr);
  return joined(stages, " -> ");
}

std::optional<int64_t> row_stage::elements(bool drop_remainder) const {
  const int64_t n = length({.drop_remainder = drop_remainder});
  return n == endless ? std::nullopt : std::optional{n};
}

expected<std::unique_ptr<dataset_iterator>> row_stage::iterate(const iterate_options& options) const {
  if (auto ok = check_hosts(options); !ok)
    return fail(ok.error());
  if (auto ok = check({options.seed, options.drop_remainder}); !ok)
    return fail(ok.error());
  return std::make_unique<position_iterator>(shared_from_this(), options);
}

expected<void> row_source::check(const reading& r) const {
  if (rows() > 0)
    return {};
  std::vector<std::string> stages;
  describe(stages, &r);
  return fail(errc::invalid_argument, "the source " + joined(stages, " -> ") + " has no examples");
}

void row_transformation::describe(std::vector<std::string>& stages, const reading* r) const {
  inner_->describe(stages, r);
  stages.push_back(stage_text(r));
}

expected<void> row_transformation::check(const reading& r) const {
  if (auto ok = inner_->check(r); !ok)
    return ok;
  if (length(r) > 0)
    return {};
  return fail(errc::invalid_argument, stage_text(&r) + " leaves nothing of the " + std::to_string(inner_->length(r))
                                          + " elements before it, in " + to_text());
}

}  // namespace troupe::input
