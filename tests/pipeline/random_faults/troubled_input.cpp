#include "pipeline/random_faults/troubled_input.hpp"

#include <cmath>

namespace troupe::test::random_faults {

bool input_troubles::is_due(armed& of, input_place at) {
  const auto& what = of.what;
  if (of.since)
    return at <= input_place::read && now() - *of.since < what.lasts;
  if (at != what.input || ++of.calls < what.nth)
    return false;
  if (what.lasts.count() > 0)
    of.since = now();
  return of.calls == what.nth || what.for_ever;
}

const trouble* input_troubles::due(input_place at, int32_t host) {
  for (auto& a : armed_)
    if (a.what.host == host && is_due(a, at)) {
      happened_.push_back(a.what);
      return &happened_.back();
    }
  return nullptr;
}

expected<void> input_troubles::meet(input_place at, int32_t host) {
  const auto* trouble = due(at, host);
  if (!trouble)
    return {};
  const auto text = std::string{injected} + ": " + std::string{to_string(at)} + " on host " + std::to_string(host);
  if (trouble->throws)
    throw std::runtime_error(text);
  return fail(trouble->unavailable ? errc::unavailable : errc::data_loss, text);
}

namespace {

class troubled_iterator final : public dataset_iterator {
 public:
  troubled_iterator(std::unique_ptr<dataset_iterator> inner, std::shared_ptr<input_troubles> troubles,
                    bool of_evaluation, int32_t host)
    : inner_(std::move(inner)), troubles_(std::move(troubles)), of_evaluation_(of_evaluation), host_(host) {}

  const element_spec& spec() const noexcept override { return inner_->spec(); }
  int64_t batch_rows() const noexcept override { return inner_->batch_rows(); }
  expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
    if (!of_evaluation_)
      troubles_->reading();
    if (auto well = troubles_->meet(of_evaluation_ ? input_place::eval_read : input_place::read, host_); !well)
      return fail(well.error());
    auto rows = inner_->read(into, stop);
    if (!rows || of_evaluation_)
      return rows;
    if (troubles_->spoils(input_place::nan, host_))
      *reinterpret_cast<float*>(into[0]) = std::nanf("");
    if (troubles_->spoils(input_place::label, host_))
      *reinterpret_cast<int32_t*>(into[1]) = 99;
    return rows;
  }
  expected<std::string> save() const override {
    if (auto well = of_evaluation_ ? expected<void>{} : troubles_->meet(input_place::save, host_); !well)
      return fail(well.error());
    return inner_->save();
  }
  expected<void> restore(std::string_view state) override {
    if (auto well = of_evaluation_ ? expected<void>{} : troubles_->meet(input_place::restore, host_); !well)
      return fail(well.error());
    return inner_->restore(state);
  }

 private:
  std::unique_ptr<dataset_iterator> inner_;
  std::shared_ptr<input_troubles> troubles_;
  bool of_evaluation_;
  int32_t host_;
};

class troubled_stage final : public dataset_stage {
 public:
  troubled_stage(std::shared_ptr<const dataset_stage> inner, std::shared_ptr<input_troubles> troubles,
                 bool of_evaluation, std::optional<int32_t> host)
    : inner_(std::move(inner)), troubles_(std::move(troubles)), of_evaluation_(of_evaluation), host_(host) {}

  element_spec spec() const override { return inner_->spec(); }
  std::string to_text() const override { return inner_->to_text(); }
  std::optional<int64_t> source_size() const override { return inner_->source_size(); }
  std::optional<int64_t> elements(bool drop_remainder) const override { return inner_->elements(drop_remainder); }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const override {
    const auto host = host_.value_or(options.host);
    if (auto well = troubles_->meet(of_evaluation_ ? input_place::eval_iterate : input_place::iterate, host); !well)
      return fail(well.error());
    auto inner = inner_->iterate(options);
    if (!inner)
      return inner;
    return std::make_unique<troubled_iterator>(std::move(*inner), troubles_, of_evaluation_, host);
  }

 private:
  std::shared_ptr<const dataset_stage> inner_;
  std::shared_ptr<input_troubles> troubles_;
  bool of_evaluation_;
  std::optional<int32_t> host_;
};

}  // namespace

dataset troubled(const dataset& inner, std::shared_ptr<input_troubles> troubles, bool of_evaluation,
                 std::optional<int32_t> host) {
  return dataset{std::make_shared<troubled_stage>(inner.last_stage(), std::move(troubles), of_evaluation, host)};
}

}  // namespace troupe::test::random_faults
