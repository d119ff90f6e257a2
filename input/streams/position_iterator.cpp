#include "input/streams/position_iterator.hpp"

#include <algorithm>
#include <charconv>

namespace troupe::input {

namespace {

// A position is text: this line, "next <element>", one line for each stage, source first, and then the fingerprint of
// the source. Of batches in order the second line is "next <example> of epoch <epoch>", and there is no line for the
// stage `batch`.
constexpr std::string_view magic = "troupe input 2";

std::string_view next_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// Takes a count from the front of `text`; -1 if there is none.
int64_t take_count(std::string_view& text) {
  int64_t count = -1;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return failed == std::errc{} ? count : -1;
}

bool take_text(std::string_view& text, std::string_view start) {
  const bool there = text.starts_with(start);
  if (there)
    text.remove_prefix(start.size());
  return there;
}

/// Sizes of batches that have a boundary at `example`, on both sides of `wanted`.
std::string sizes_that_fit(int64_t example, int64_t wanted) {
  const int64_t most = wanted < example / 64 ? 64 * wanted : example;
  const auto next = [example, most](int64_t from, int64_t by) {
    for (int64_t size = from; size >= 1 && size <= std::min(example, most); size += by)
      if (example % size == 0)
        return size;
    return int64_t{0};
  };
  const int64_t below = next(std::min(wanted, example), -1), above = wanted < example ? next(wanted, 1) : 0;
  return std::to_string(below) + (above > 0 && above != below ? " or " + std::to_string(above) : "");
}

}  // namespace

position_iterator::position_iterator(std::shared_ptr<const row_stage> node, const iterate_options& options)
  : stage_(std::move(node)), source_(stage_->source()), reading_{options.seed, options.drop_remainder},
    host_(options.host), hosts_(options.hosts), spec_(stage_->spec()),
    rows_(std::max<int64_t>(1, stage_->batch_size())), rows_per_example_(stage_->rows_per_example()),
    length_(stage_->length(reading_)),
    batches_of_epoch_(stage_->batches_in_order() ? stage_->batches_of_epoch(reading_) : 0) {
  // A batch of unbounded size means all rows; it then has as many ranges as rows.
  ranges_.reserve(static_cast<size_t>(std::min<int64_t>(rows_, 1 << 20)));
}

expected<int64_t> position_iterator::read(std::span<std::byte* const> into, const std::stop_token& stop) {
  assert(into.size() == spec_.features.size() + spec_.labels.size());
  const int64_t element = round_ + host_;
  if (element >= length_)
    return fail(errc::out_of_range, stage_->to_text() + " ended after " + std::to_string(length_) + " elements");
  ranges_.clear();
  stage_->locate(reading_, 0, element, 1, ranges_);
  if (auto done = source_.read_rows(ranges_, into, stop); !done)
    return fail(std::move(done.error()));
  round_ += hosts_;
  int64_t rows = 0;
  for (const row_range& r : ranges_)
    rows += r.count;
  return rows / rows_per_example_;
}

expected<lent_batches> position_iterator::lend(int64_t most) {
  const int64_t element = round_ + host_;
  if (!source_.lends() || stage_->shuffles() > 0 || stage_->batch_size() == 0 || element >= length_)
    return lent_batches{};
  ranges_.clear();
  stage_->locate(reading_, 0, element, hosts_ == 1 ? std::min(most, length_ - element) : 1, ranges_);
  row_range adjacent = ranges_.front();
  for (auto next = ranges_.begin() + 1; next != ranges_.end() && next->first == adjacent.first + adjacent.count; ++next)
    adjacent.count += next->count;
  const int64_t batch = rows_ * rows_per_example_, count = adjacent.count / batch;
  adjacent.count = count * batch;
  if (count == 0)
    return lent_batches{};
  round_ += count * hosts_;
  lent_batches lent{count, source_.lend_rows(adjacent)};
  auto rows = lent.components.begin();
  for (const auto& c : spec_.components()) {
    *rows = rows->reshape(c.dims.prepend(count * rows_));  // A window has rows of the source.
    ++rows;
  }
  return lent;
}

std::optional<int64_t> position_iterator::source_rows() const {
  return rows_per_example_ == 1 && stage_->made_of_rows() ? stage_->source_size() : std::nullopt;
}

void position_iterator::last_rows(std::span<int64_t> into) const {
  auto at = into.begin();
  for (const auto& r : ranges_)
    for (int64_t i = 0; i < r.count && at != into.end(); ++i)
      *at++ = r.first + i;
}

std::vector<std::string> position_iterator::stages() const {
  std::vector<std::string> stages;
  stage_->describe(stages, &reading_);
  if (batches_of_epoch_ > 0)
    stages.erase(std::prev(std::find_if(stages.rbegin(), stages.rend(), [](const std::string& stage) {
                             return stage.starts_with("batch(");
                           }).base()));
  return stages;
}

std::string position_iterator::place() const {
  if (batches_of_epoch_ == 0)
    return "next " + std::to_string(round_);
  return "next " + std::to_string(round_ % batches_of_epoch_ * rows_) + " of epoch "
         + std::to_string(round_ / batches_of_epoch_);
}

expected<int64_t> position_iterator::element_at(int64_t epoch, int64_t example) const {
  if (example % rows_ != 0)
    return fail(errc::invalid_argument, "the position is behind " + std::to_string(example)
                                            + " examples of an epoch, where no batch of " + std::to_string(rows_)
                                            + " begins; one of " + sizes_that_fit(example, rows_) + " does");
  int64_t element = 0;
  if (__builtin_mul_overflow(epoch, batches_of_epoch_, &element)
      || __builtin_add_overflow(element, example / rows_, &element))
    return fail(errc::invalid_argument, "there is no epoch " + std::to_string(epoch));
  return element;
}

expected<std::string> position_iterator::save() const {
  std::string state = std::string{magic} + "\n" + place() + "\n";
  for (const auto& stage : stages())
    state += stage + "\n";
  return state + source_.fingerprint().text();
}

expected<void> position_iterator::restore(std::string_view state) {
  const auto refuse = [this](const std::string& why) {
    return fail(errc::invalid_argument, "cannot resume " + stage_->to_text() + ": " + why);
  };
  if (next_line(state) != magic)
    return refuse("the state is not a '" + std::string{magic} + "'");
  const std::string line{next_line(state)};
  std::string_view rest = line;
  const int64_t next = take_text(rest, "next ") ? take_count(rest) : -1;
  const bool counts_examples = take_text(rest, " of epoch ");
  const int64_t epoch = counts_examples ? take_count(rest) : 0;
  if (next < 0 || epoch < 0 || !rest.empty())
    return refuse("the state's position '" + line + "' is not a count");
  for (const auto& stage : stages()) {
    if (take_text(state, stage + "\n"))
      continue;  // First, as a source may have a name that begins as a fingerprint does.
    const std::string saved{begins_fingerprint(state) ? std::string_view{} : next_line(state)};
    return refuse(saved.empty() ? "the state was saved without '" + stage + "'"
                                : "the state was saved by '" + saved + "', here is '" + stage + "'");
  }
  auto differences = take_differences(state, source_.fingerprint().get());
  if (!state.empty())
    return refuse("the state was saved with '" + std::string{next_line(state)} + "' at its end, here is nothing");
  if (counts_examples != (batches_of_epoch_ > 0))
    return refuse("the state was saved " + std::string{counts_examples ? "of batches" : "of single examples"}
                  + ", here are " + (counts_examples ? "single examples" : "batches"));
  const auto element = counts_examples ? element_at(epoch, next) : expected<int64_t>{next};
  if (!element)
    return refuse(element.error().message);
  if (*element > endless - hosts_)
    return refuse("no round of " + std::to_string(hosts_) + " hosts begins at " + std::to_string(*element));
  round_ = *element;
  warnings_ = std::move(differences);
  return {};
}

expected<void> check_hosts(const iterate_options& options) {
  if (options.hosts >= 1 && options.host >= 0 && options.host < options.hosts)
    return {};
  return fail(errc::invalid_argument,
              "host " + std::to_string(options.host) + " is not one of " + std::to_string(options.hosts) + " hosts");
}

}  // namespace troupe::input
