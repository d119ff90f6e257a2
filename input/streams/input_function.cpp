#include "input/streams/input_function.hpp"

#include "input/streams/example_rows.hpp"
#include "input/streams/open_input.hpp"
#include "input/streams/refused.hpp"

namespace troupe {

namespace {

std::string called(const input_function_options& o) { return "the input function '" + o.name + "'"; }

/// The context as a line without its end, for errors and positions.
std::string text_of(const input_context& c) {
  return std::string{to_string(c.mode)} + ", batch_size " + std::to_string(c.batch_size) + ", input "
         + std::to_string(c.deployment.index) + " of " + std::to_string(c.deployment.total) + " on host "
         + std::to_string(c.deployment.host) + " of " + std::to_string(c.hosts) + ", for "
         + std::to_string(c.deployment.replicas) + " of " + std::to_string(c.replicas) + " replicas";
}

/// The position of such an iterator is a line with name and context, and then the position of the inner one.
class deployed_iterator final : public dataset_iterator {
 public:
  deployed_iterator(std::string line, std::unique_ptr<dataset_iterator> inner)
    : line_(std::move(line)), inner_(std::move(inner)) {}

  const element_spec& spec() const noexcept override { return inner_->spec(); }
  int64_t batch_rows() const noexcept override { return inner_->batch_rows(); }
  expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
    return inner_->read(into, stop);
  }
  expected<lent_batches> lend(int64_t most) override { return inner_->lend(most); }
  expected<std::string> save() const override {
    return inner_->save().map([&](const std::string& position) { return line_ + "\n" + position; });
  }
  expected<void> restore(std::string_view state) override {
    const auto saved = state.substr(0, state.find('\n'));
    if (saved != line_ || saved.size() == state.size())
      return fail(errc::invalid_argument,
                  "the position was saved by '" + std::string{saved} + "', here is '" + line_ + "'");
    return inner_->restore(state.substr(saved.size() + 1));
  }
  std::vector<std::string> warnings() const override { return inner_->warnings(); }
  std::optional<int64_t> source_rows() const override { return inner_->source_rows(); }
  void last_rows(std::span<int64_t> into) const override { inner_->last_rows(into); }

 private:
  std::string line_;
  std::unique_ptr<dataset_iterator> inner_;
};

class deployed_stage final : public dataset_stage {
 public:
  deployed_stage(const input_function_options& of, dataset returned, const input_context& c)
    : of_(of), context_(c), returned_(std::move(returned)) {}

  element_spec spec() const override { return returned_.spec(); }
  std::string to_text() const override {
    return returned_.to_text() + ", from " + called(of_) + " (" + text_of(context_) + ")";
  }
  std::optional<int64_t> source_size() const override { return returned_.source_size(); }
  std::optional<int64_t> elements(bool drop_remainder) const override {
    return returned_.last_stage()->elements(drop_remainder);
  }
  int64_t streams() const noexcept override { return returned_.last_stage()->streams(); }
  bool never_ends() const noexcept override { return returned_.last_stage()->never_ends(); }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const override {
    auto whole = options;
    if (context_.deployment.total > 1)
      whole.host = 0, whole.hosts = 1;
    auto inner = open_input(returned_, whole);
    if (!inner)
      return inner;
    if ((*inner)->batch_rows() != context_.batch_size)
      return fail(errc::invalid_argument, called(of_) + " (" + text_of(context_) + "): its batches have "
                                              + std::to_string((*inner)->batch_rows())
                                              + " rows: use batch(context.batch_size)");
    return std::make_unique<deployed_iterator>(of_.name + ": " + text_of(context_), std::move(*inner));
  }

 private:
  input_function_options of_;
  input_context context_;
  dataset returned_;
};

class function_stage final : public dataset_stage {
 public:
  function_stage(input_function_options options, std::function<expected<dataset>(const input_context&)> make)
    : options_(std::move(options)), make_(std::move(make)) {}

  const input_function_options& options() const noexcept { return options_; }
  expected<dataset> call(const input_context& c) const {
    const auto who = called(options_);
    if (!make_)
      return fail(errc::invalid_argument, who + " is empty");
    if (options_.batch_size < 1)
      return fail(errc::invalid_argument,
                  who + ": batch_size must be at least 1, not " + std::to_string(options_.batch_size));
    if (auto named = input::check_name(options_.name, "an input function"); !named)
      return fail(std::move(named.error()));
    return input::ask_user(who + " (" + text_of(c) + ")", [&] { return make_(c); })
        .and_then([&](dataset returned) -> expected<dataset> {
          if (input_function_of(returned))
            return fail(errc::invalid_argument, who + " returned an input function: return a dataset");
          return returned;
        });
  }

  element_spec spec() const override {
    const auto one = alone(false);
    return one ? one->spec() : element_spec{};
  }
  std::string to_text() const override {
    return "input function '" + options_.name + "' of " + std::to_string(options_.batch_size) + " rows a step";
  }
  std::optional<int64_t> source_size() const override { return std::nullopt; }
  std::optional<int64_t> elements(bool) const override { return std::nullopt; }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const override {
    return alone(options.drop_remainder).and_then([&](const dataset& one) { return open_input(one, options); });
  }

 private:
  /// Outside of a job.
  expected<dataset> alone(bool trains) const {
    return call({.batch_size = options_.batch_size, .mode = trains ? mode::train : mode::evaluate});
  }

  input_function_options options_;
  std::function<expected<dataset>(const input_context&)> make_;
};

const function_stage* function_of(const dataset& input) {
  return dynamic_cast<const function_stage*>(input.last_stage().get());
}

}  // namespace

const input_function_options* input_function_of(const dataset& input) {
  const auto* stage = function_of(input);
  return stage ? &stage->options() : nullptr;
}

expected<dataset> deployed(const dataset& input, const input_context& c) {
  const auto* stage = function_of(input);
  if (!stage)
    return input;
  return stage->call(c).map([&](dataset returned) {
    return dataset{std::make_shared<deployed_stage>(stage->options(), std::move(returned), c)};
  });
}

dataset from_input_function(input_function_options options,
                            std::function<expected<dataset>(const input_context&)> make) {
  return dataset{std::make_shared<function_stage>(std::move(options), std::move(make))};
}

}  // namespace troupe
