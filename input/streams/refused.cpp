#include "input/streams/refused.hpp"

#include "input/streams/input_function.hpp"

namespace troupe::input {

namespace {

class refused_stage final : public dataset_stage {
 public:
  refused_stage(stage_ptr inner, std::string stage, error why)
    : inner_(std::move(inner)), stage_(std::move(stage)), why_(std::move(why)) {}

  const error& why() const noexcept { return why_; }
  element_spec spec() const override { return inner_ ? inner_->spec() : element_spec{}; }
  std::string to_text() const override { return (inner_ ? inner_->to_text() + " -> " : "") + stage_; }
  std::optional<int64_t> source_size() const override { return inner_ ? inner_->source_size() : std::nullopt; }
  std::optional<int64_t> elements(bool) const override { return {}; }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options&) const override {
    error e = why_;
    e.notes.push_back("in " + to_text());
    return fail(std::move(e));
  }

 private:
  stage_ptr inner_;  ///< Null if there is no source.
  std::string stage_;
  error why_;
};

}  // namespace

const stage_ptr& absent() {
  static const stage_ptr none = std::make_shared<refused_stage>(
      nullptr, "(no source)",
      error{errc::invalid_argument,
            "the dataset has no source: it was made by its default constructor or of a null pointer"});
  return none;
}

stage_ptr refuse(stage_ptr inner, const std::string& stage, error e) {
  if (auto earlier = refused(inner, stage))
    return earlier;
  return std::make_shared<refused_stage>(std::move(inner), stage, std::move(e));
}

error breaks_streams(const std::string& stage, int64_t n, const std::string& instead) {
  return {errc::invalid_argument,
          stage + " follows streams(" + std::to_string(n) + ") and would break its rows apart: " + instead};
}

stage_ptr refused(const stage_ptr& inner, const std::string& stage) {
  if (auto* earlier = dynamic_cast<const refused_stage*>(inner.get()))
    return std::make_shared<refused_stage>(inner, stage, earlier->why());
  if (input_function_of(dataset{inner}))
    return std::make_shared<refused_stage>(
        inner, stage, error{errc::invalid_argument, stage + " follows an input function: put it into the function"});
  if (is_batch_feed(inner))
    return std::make_shared<refused_stage>(
        inner, stage,
        error{errc::invalid_argument, stage + " follows a batch feed: put into the feed what it is to give"});
  return nullptr;
}

}  // namespace troupe::input
