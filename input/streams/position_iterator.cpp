#include "input/streams/position_iterator.hpp"

#include <algorithm>
#include <charconv>

namespace troupe::input {

namespace {

// A position is text: this line, "next <element>", one line for each stage, source first, and then the fingerprint of
// the source.
constexpr std::string_view magic = "troupe input 1";

std::string_view next_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace

position_iterator::position_iterator(std::shared_ptr<const row_stage> node, const iterate_options& options)
  : stage_(std::move(node)), source_(stage_->source()), reading_{options.seed, options.drop_remainder},
    host_(options.host), hosts_(options.hosts), spec_(stage_->spec()),
    rows_(std::max<int64_t>(1, stage_->batch_size())), rows_per_example_(stage_->rows_per_example()),
    length_(stage_->length(reading_)) {
  // A batch of unbounded size means all rows; it then has as many ranges as rows.
  ranges_.reserve(static_cast<size_t>(std::min<int64_t>(rows_, 1 << 20)));
}

expected<int64_t> position_iterator::read(std::span<std::byte* const> into, const std::stop_token&) {
  assert(into.size() == spec_.features.size() + spec_.labels.size());
  const int64_t element = round_ + host_;
  if (element >= length_)
    return fail(errc::out_of_range, stage_->to_text() + " ended after " + std::to_string(length_) + " elements");
  ranges_.clear();
  stage_->locate(reading_, 0, element, 1, ranges_);
  if (auto done = source_.read_rows(ranges_, into); !done)
    return fail(std::move(done.error()));
  round_ += hosts_;
  int64_t rows = 0;
  for (const row_range& r : ranges_)
    rows += r.count;
  return rows / rows_per_example_;
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
  return stages;
}

expected<std::string> position_iterator::save() const {
  std::string state = std::string{magic} + "\nnext " + std::to_string(round_) + "\n";
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
  auto next = next_line(state);
  int64_t round = -1;
  if (next.starts_with("next ")) {
    next.remove_prefix(5);
    if (auto [end, failed] = std::from_chars(next.begin(), next.end(), round);
        failed != std::errc{} || end != next.end())
      round = -1;
  }
  if (round < 0)
    return refuse("the state's position '" + std::string{next} + "' is not a count");
  for (const auto& stage : stages()) {
    const std::string saved{begins_fingerprint(state) ? std::string_view{} : next_line(state)};
    if (saved != stage)
      return refuse(saved.empty() ? "the state was saved without '" + stage + "'"
                                  : "the state was saved by '" + saved + "', here is '" + stage + "'");
  }
  auto differences = take_differences(state, source_.fingerprint().get());
  if (!state.empty())
    return refuse("the state was saved with '" + std::string{next_line(state)} + "' at its end, here is nothing");
  round_ = round;
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
