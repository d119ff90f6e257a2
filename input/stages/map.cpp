#include "input/stages/transformations.hpp"
#include "input/streams/example_rows.hpp"
#include "input/streams/open_input.hpp"

#include <algorithm>

namespace troupe::input {

namespace {

/// The user's function, with the structure of the examples that it takes and of those that it returns.
struct change {
  std::string name;  ///< "map(normalise)"
  change_function function;
  example_rows from;
  example_rows to;

  expected<void> apply(const std::string& where, std::span<std::byte* const> row,
                       std::span<std::byte* const> into) const {
    return ask_user(where, [&]() -> expected<void> {
      return function(from.read(row)).and_then([&](const example_tensors& changed) { return to.write(changed, into); });
    });
  }
  /// The stage's text in positions. It includes the components, since a function of the same name with other components
  /// is a different function.
  std::string text() const { return name + ":" + input::to_text(to.spec()); }
};

// -- in any order --------------------------------------------------------------

/// The map of a dataset that can be read in any order. The stages above, such as shuffle and batch, only choose
/// examples. So the function may be applied when rows are copied from the source, with the same result, and a position
/// is still one number.
class map_stage final : public row_transformation, public row_reader {
 public:
  map_stage(std::shared_ptr<const row_stage> inner, change c)
    : row_transformation(std::move(inner)), change_(std::move(c)) {}

  int64_t rows_per_example() const noexcept override { return inner().rows_per_example(); }
  element_spec spec() const override { return change_.to.spec(); }
  const row_reader& source() const noexcept override { return *this; }
  const lazy_fingerprint& fingerprint() const noexcept override { return inner().source().fingerprint(); }
  int64_t length(const reading& r) const override { return inner().length(r); }
  void locate(const reading& r, uint64_t epoch, int64_t first, int64_t count,
              std::vector<row_range>& out) const override {
    inner().locate(r, epoch, first, count, out);
  }

  /// `runs` are the rows of whole examples. An example may begin and end inside a run.
  expected<void> read_rows(std::span<const row_range> ranges, std::span<std::byte* const> into,
                           const std::stop_token& stop) const override {
    std::vector<std::byte*> at(into.begin(), into.end());
    const example_buffer one{change_.from.spec()};
    std::vector<row_range> example;
    int64_t missing = rows_per_example();
    for (row_range rest : ranges)
      while (rest.count > 0) {
        const int64_t count = std::min(missing, rest.count);
        example.push_back({rest.first, count, rest.begins});
        rest = {rest.first + count, rest.count - count, rest.begins};
        missing -= count;
        if (missing > 0)
          continue;
        if (stop.stop_requested())
          return fail(errc::cancelled, change_.name + " was stopped before row " + std::to_string(example.front().first)
                                           + " of the source");
        if (auto read = inner().source().read_rows(example, one.rows(), stop); !read)
          return read;
        if (auto done = change_.apply(
                change_.name + ", row " + std::to_string(example.front().first) + " of the source", one.rows(), at);
            !done)
          return done;
        change_.to.advance(at);
        example.clear();
        missing = rows_per_example();
      }
    return {};
  }

 protected:
  std::string stage_text(const reading* r) const override { return r ? change_.text() : change_.name; }

 private:
  change change_;
};

// -- one after the other -------------------------------------------------------

/// The map of a stream. Its position is the line of the stage, then the position of the inner iterator.
class map_iterator final : public dataset_iterator {
 public:
  map_iterator(std::unique_ptr<dataset_iterator> inner, const change& c)
    : inner_(std::move(inner)), change_(c), one_(c.from.spec()) {}

  const element_spec& spec() const noexcept override { return change_.to.spec(); }
  int64_t batch_rows() const noexcept override { return 1; }

  expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
    auto rows = inner_->read(one_.rows(), stop);
    if (!rows)
      return rows;
    if (*rows != 1)
      return fail(not_one_row(change_.name, *rows));
    if (auto done = change_.apply(change_.name, one_.rows(), into); !done)
      return fail(done.error());
    return 1;
  }

  expected<std::string> save() const override {
    auto inner = inner_->save();
    return inner ? change_.text() + "\n" + *inner : inner;
  }
  expected<void> restore(std::string_view state) override {
    const auto line = state.substr(0, state.find('\n'));
    if (line != change_.text() || line.size() == state.size())
      return fail(errc::invalid_argument,
                  "the state was saved by '" + std::string{line} + "', here is '" + change_.text() + "'");
    return inner_->restore(state.substr(line.size() + 1));
  }
  std::vector<std::string> warnings() const override { return inner_->warnings(); }

 private:
  std::unique_ptr<dataset_iterator> inner_;
  change change_;
  example_buffer one_;
};

class streamed_map_stage final : public dataset_stage {
 public:
  streamed_map_stage(stage_ptr inner, change c) : inner_(std::move(inner)), change_(std::move(c)) {}

  element_spec spec() const override { return change_.to.spec(); }
  std::string to_text() const override { return inner_->to_text() + " -> " + change_.name; }
  std::optional<int64_t> source_size() const override { return inner_->source_size(); }
  std::optional<int64_t> elements(bool drop_remainder) const override { return inner_->elements(drop_remainder); }
  int64_t streams() const noexcept override { return inner_->streams(); }
  bool never_ends() const noexcept override { return inner_->never_ends(); }

  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const override {
    auto inner = opened(inner_, options);
    if (!inner)
      return inner;
    if ((*inner)->batch_rows() != 1)
      return fail(errc::invalid_argument, change_.name + " follows batches of " + std::to_string((*inner)->batch_rows())
                                              + " rows, in " + to_text() + ": change examples first");
    return std::make_unique<map_iterator>(std::move(*inner), change_);
  }

 private:
  stage_ptr inner_;
  change change_;
};

}  // namespace

stage_ptr map(stage_ptr inner, const std::string& name, change_function function, std::optional<element_spec> becomes) {
  const std::string text = "map(" + name + ")";
  if (auto no = refused(inner, text))
    return no;
  if (auto named = check_name(name, "a map"); !named)
    return refuse(inner, text, named.error());
  if (!function)
    return refuse(inner, text, {errc::invalid_argument, text + " has no function"});
  // The stage before may be the user's.
  auto before = guarded("spec() of the stage before " + text, [&] { return inner->spec(); });
  if (!before)
    return refuse(inner, text, before.error());
  auto after = becomes ? checked_spec(std::move(*becomes), text) : before;
  if (!after)
    return refuse(inner, text, after.error());
  change c{text, std::move(function), example_rows{std::move(*before)}, example_rows{std::move(*after)}};
  auto indexed = std::dynamic_pointer_cast<const row_stage>(inner);
  if (!indexed)
    return std::make_shared<streamed_map_stage>(std::move(inner), std::move(c));
  if (indexed->batch_size() > 0)
    return refuse(inner, text,
                  {errc::invalid_argument,
                   text + " follows batch(" + std::to_string(indexed->batch_size()) + "): change examples first"});
  return std::make_shared<map_stage>(std::move(indexed), std::move(c));
}

}  // namespace troupe::input
