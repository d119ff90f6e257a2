// A source whose examples a user's function makes one after the other.
#include "input/sources/generator_source.hpp"
#include "input/streams/example_rows.hpp"
#include "input/streams/position_iterator.hpp"
#include "input/streams/streamed.hpp"

#include <charconv>

namespace troupe::input {

namespace {

// A position is two lines, "<name>:<spec>" and "next <examples read>", then the bytes that the user's function saved.

class generator_iterator final : public dataset_iterator {
 public:
  generator_iterator(std::string name, element_spec spec, example_stream stream)
    : name_(std::move(name)), rows_of_(std::move(spec)), stream_(std::move(stream)) {}

  const element_spec& spec() const noexcept override { return rows_of_.spec(); }
  int64_t batch_rows() const noexcept override { return 1; }

  expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
    if (stop.stop_requested())
      return fail(errc::cancelled, name_ + " was stopped before example " + std::to_string(next_));
    if (!ended_) {
      const auto done = ask_user(name_ + ", example " + std::to_string(next_), [&]() -> expected<void> {
        auto made = stream_.next();
        if (!made)
          return fail(std::move(made.error()));
        ended_ = !made->has_value();
        return ended_ ? expected<void>{} : rows_of_.write(**made, into);
      });
      if (!done)
        return fail(done.error());
    }
    if (ended_)
      return fail(errc::out_of_range, name_ + " ended after " + std::to_string(next_) + " examples");
    ++next_;
    return 1;
  }

  expected<std::string> save() const override {
    if (!stream_.save)
      return fail(errc::unimplemented,
                  "the position of " + name_ + " cannot be saved: its example_stream has no save and restore");
    auto position = ask_user("save of " + name_, stream_.save);
    if (!position)
      return position;
    return head() + "\nnext " + std::to_string(next_) + "\n" + *position;
  }

  expected<void> restore(std::string_view state) override {
    const auto refuse = [this](const std::string& why) {
      return fail(errc::invalid_argument, "cannot resume " + name_ + ": " + why);
    };
    if (!stream_.restore)
      return fail(errc::unimplemented,
                  "the position of " + name_ + " cannot be restored: its example_stream has no save and restore");
    const auto first = state.substr(0, state.find('\n'));
    if (first != head())
      return refuse("the state was saved by '" + std::string{first} + "', here is '" + head() + "'");
    state.remove_prefix(std::min(state.size(), first.size() + 1));
    const auto line = state.substr(0, state.find('\n'));
    int64_t next = -1;
    if (line.starts_with("next "))
      if (const auto [end, failed] = std::from_chars(line.data() + 5, line.data() + line.size(), next);
          failed != std::errc{} || end != line.data() + line.size())
        next = -1;
    if (next < 0 || line.size() == state.size())
      return refuse("the state's position '" + std::string{line} + "' is not a count");
    state.remove_prefix(line.size() + 1);
    if (auto there = ask_user("restore of " + name_, [&]() -> expected<void> { return stream_.restore(state); });
        !there)
      return there;
    next_ = next;
    ended_ = false;
    return {};
  }

 private:
  std::string head() const { return name_ + ":" + input::to_text(rows_of_.spec()); }

  std::string name_;
  example_rows rows_of_;
  example_stream stream_;
  int64_t next_ = 0;    ///< Number of examples read.
  bool ended_ = false;  ///< The function has reported its end, so it is not called again.
};

class generator_stream final : public dataset_stage {
 public:
  generator_stream(std::string name, element_spec spec, std::function<expected<example_stream>()> open)
    : name_(std::move(name)), spec_(std::move(spec)), open_(std::move(open)) {}

  element_spec spec() const override { return spec_; }
  std::string to_text() const override { return name_; }
  std::optional<int64_t> source_size() const override { return {}; }
  std::optional<int64_t> elements(bool) const override { return {}; }

  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const override {
    if (auto ok = check_hosts(options); !ok)
      return fail(ok.error());
    auto stream = ask_user("open of " + name_, open_);
    if (!stream)
      return fail(std::move(stream.error()));
    if (!stream->next)
      return fail(errc::invalid_argument, name_ + " opened an example_stream without next");
    if (!stream->save != !stream->restore)
      return fail(errc::invalid_argument, name_ + " opened an example_stream with "
                                              + (stream->save ? "save and no restore" : "restore and no save"));
    return shared(std::make_unique<generator_iterator>(name_, spec_, std::move(*stream)), options);
  }

 private:
  std::string name_;
  element_spec spec_;
  std::function<expected<example_stream>()> open_;
};

}  // namespace

expected<dataset> streamed_generator(std::string name, element_spec spec,
                                     std::function<expected<example_stream>()> open) {
  if (auto named = check_name(name, "a generator"); !named)
    return fail(named.error());
  auto checked = checked_spec(std::move(spec), name);
  if (!checked)
    return fail(checked.error());
  if (!open)
    return fail(errc::invalid_argument, name + " has no function that makes its examples");
  return dataset{std::make_shared<generator_stream>(std::move(name), std::move(*checked), std::move(open))};
}

}  // namespace troupe::input
