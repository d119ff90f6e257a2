#include "input/sources/generator_source.hpp"

#include "input/streams/example_rows.hpp"
#include "input/streams/row_stage.hpp"

namespace troupe::input {

namespace {

class generator_rows final : public row_source {
 public:
  using function = std::function<expected<example_tensors>(int64_t)>;

  generator_rows(std::string name, element_spec spec, int64_t count, function make)
    : name_(std::move(name)), rows_of_(std::move(spec)), count_(count), make_(std::move(make)) {}

  element_spec spec() const override { return rows_of_.spec(); }
  int64_t rows() const noexcept override { return count_; }

  expected<void> read_rows(std::span<const row_range> ranges, std::span<std::byte* const> into,
                           const std::stop_token& stop) const override {
    std::vector<std::byte*> at(into.begin(), into.end());
    for (const row_range& r : ranges)
      for (int64_t i = r.first; i < r.first + r.count; ++i) {
        if (stop.stop_requested())
          return fail(errc::cancelled, name_ + " was stopped before example " + std::to_string(i));
        const std::string where = name_ + ", example " + std::to_string(i);
        const auto done = ask_user(where, [&]() -> expected<void> {
          return make_(i).and_then([&](const example_tensors& made) { return rows_of_.write(made, at); });
        });
        if (!done)
          return done;
        rows_of_.advance(at);
      }
    return {};
  }

  void describe(std::vector<std::string>& stages, const reading* r) const override {
    stages.push_back(name_
                     + (r ? " of " + std::to_string(count_) + " examples:" + input::to_text(rows_of_.spec()) : ""));
  }

 protected:
  // Only the name identifies the function; there are no bytes to sample.
  source_fingerprint take_fingerprint() const override { return {}; }

 private:
  std::string name_;
  example_rows rows_of_;
  int64_t count_;
  function make_;
};

}  // namespace

expected<dataset> indexed_generator(std::string name, element_spec spec, int64_t count,
                                    std::function<expected<example_tensors>(int64_t)> make) {
  if (auto named = check_name(name, "a generator"); !named)
    return fail(named.error());
  auto checked = checked_spec(std::move(spec), name);
  if (!checked)
    return fail(checked.error());
  if (!make)
    return fail(errc::invalid_argument, name + " has no function that makes its examples");
  if (count < 0)
    return fail(errc::invalid_argument, name + " must have at least 0 examples, not " + std::to_string(count));
  if (count == endless)
    return fail(errc::invalid_argument,
                name + " cannot have " + std::to_string(count) + " examples: repeat fewer without end");
  return dataset{std::make_shared<generator_rows>(std::move(name), std::move(*checked), count, std::move(make))};
}

}  // namespace troupe::input
