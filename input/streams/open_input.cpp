#include "input/streams/open_input.hpp"

#include "words/guarded.hpp"

namespace troupe {

namespace {

/// The call in words, for errors: "iterate() of the input 'tensors -> batch(4)'".
std::string called(std::string_view what, const dataset& input) {
  const auto text = guarded("to_text()", [&] { return input.to_text(); });
  return std::string{what} + " of the input" + (text ? " '" + *text + "'" : "");
}

/// Calls `call` and converts an exception to an error. The text for errors is only made when needed.
template <class Call>
auto ask(const dataset& input, std::string_view what, Call call) -> expected<typename decltype(call())::value_type> {
  try {
    return call();
  } catch (...) {
    return fail(thrown_by(called(what, input)));
  }
}

/// An iterator of a dataset whose calls never throw.
class guarded_iterator final : public dataset_iterator {
 public:
  guarded_iterator(dataset input, std::unique_ptr<dataset_iterator> inner)
    : input_(std::move(input)), inner_(std::move(inner)) {}

  const element_spec& spec() const noexcept override { return inner_->spec(); }
  int64_t batch_rows() const noexcept override { return inner_->batch_rows(); }
  expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
    auto rows = ask(input_, "read()", [&] { return inner_->read(into, stop); });
    if (rows && (*rows < 1 || *rows > batch_rows()))
      return fail(errc::invalid_argument, called("read()", input_) + " returned " + std::to_string(*rows)
                                              + " rows, and a batch has 1 to " + std::to_string(batch_rows()));
    return rows;
  }
  expected<lent_batches> lend(int64_t most) override {
    auto lent = ask(input_, "lend()", [&] { return inner_->lend(most); });
    if (lent && lent->count != 0 && !is_lent(*lent, most))
      return fail(errc::invalid_argument, called("lend()", input_) + " returned " + std::to_string(lent->count)
                                              + " batches, and not the components of at most " + std::to_string(most));
    return lent;
  }
  expected<std::string> save() const override {
    return ask(input_, "save()", [&] { return inner_->save(); });
  }
  expected<void> restore(std::string_view state) override {
    warnings_.clear();
    if (auto there = ask(input_, "restore()", [&] { return inner_->restore(state); }); !there)
      return there;
    auto found = ask(input_, "warnings()", [&] { return expected<std::vector<std::string>>{inner_->warnings()}; });
    if (!found)
      return fail(std::move(found.error()));
    warnings_ = std::move(*found);
    return {};
  }
  std::vector<std::string> warnings() const override { return warnings_; }
  std::optional<int64_t> source_rows() const override {
    const auto known = guarded("source_rows()", [&] { return inner_->source_rows(); });
    return known ? *known : std::nullopt;
  }
  void last_rows(std::span<int64_t> into) const override { inner_->last_rows(into); }

 private:
  bool is_lent(const lent_batches& lent, int64_t most) const {
    const auto wanted = spec().components();
    return lent.count > 0 && lent.count <= most
           && std::equal(lent.components.begin(), lent.components.end(), wanted.begin(), wanted.end(),
                         [&](const tensor& t, const component& c) {
                           return t.type() == c.type && t.dims() == c.dims.prepend(lent.count * batch_rows())
                                  && (t.data() || t.elements() == 0);
                         });
  }

  dataset input_;  ///< For its text in errors.
  std::unique_ptr<dataset_iterator> inner_;
  std::vector<std::string> warnings_;
};

}  // namespace

expected<std::unique_ptr<dataset_iterator>> open_input(const dataset& input, const iterate_options& options) {
  auto made = ask(input, "iterate()", [&] { return input.last_stage()->iterate(options); });
  if (!made)
    return made;
  if (!*made)
    return fail(errc::invalid_argument, called("iterate()", input) + " returned no iterator");
  if ((*made)->batch_rows() < 1)
    return fail(errc::invalid_argument,
                called("batch_rows()", input) + " must be at least 1, not " + std::to_string((*made)->batch_rows()));
  return std::make_unique<guarded_iterator>(input, std::move(*made));
}

expected<std::string> text_of(const dataset& input) {
  return ask(input, "to_text()", [&] { return expected<std::string>{input.last_stage()->to_text()}; });
}

expected<std::optional<int64_t>> batches_of(const dataset& input) {
  return ask(input, "elements()", [&] { return expected<std::optional<int64_t>>{input.last_stage()->elements(true)}; });
}

expected<std::optional<int64_t>> examples_of(const dataset& input) {
  return ask(input, "source_size()",
             [&] { return expected<std::optional<int64_t>>{input.last_stage()->source_size()}; });
}

namespace input {

expected<std::unique_ptr<dataset_iterator>> opened(const std::shared_ptr<const dataset_stage>& stage,
                                                   const iterate_options& options) {
  auto made = stage->iterate(options);
  if (made && !*made)
    return fail(errc::invalid_argument, "iterate() of " + stage->to_text() + " returned no iterator");
  return made;
}

error not_one_row(const std::string& stage, int64_t rows) {
  return {errc::invalid_argument, "read() before " + stage + " returned " + std::to_string(rows) + " rows, and not 1"};
}

}  // namespace input

}  // namespace troupe
