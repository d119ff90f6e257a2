#include "pipeline/random_faults/protocol_watch.hpp"

#include <caf/type_erased_tuple.hpp>

namespace troupe::test::random_faults {

namespace {

std::string steps(int64_t first, int64_t end) {
  return "steps " + std::to_string(first) + " to " + std::to_string(end);
}

}  // namespace

void protocol_watch::breach(std::string what) {
  if (breaches_.size() < 100)
    breaches_.push_back(std::move(what));
}

/// The state of a node in `attempt`; it is reset when a new attempt begins.
protocol_watch::standing& protocol_watch::of(const std::string& node, int32_t attempt) {
  auto& s = nodes_[node];
  if (attempt > s.attempt)
    s = {.attempt = attempt};
  return s;
}

void protocol_watch::look(const begin& x, const std::string&, const std::string& to) {
  if (const auto last = begun_.find(to); last != begun_.end() && x.attempt <= last->second)
    breach(to + " began attempt " + std::to_string(x.attempt) + " after attempt " + std::to_string(last->second));
  begun_[to] = x.attempt;
  of(to, x.attempt);
}

void protocol_watch::look(const run& x, const std::string&, const std::string& to) {
  auto& s = of(to, x.attempt);
  if (x.attempt != s.attempt)
    return;
  // At the end of the data the horizon goes back to the state that everyone has; receivers keep the greater one.
  s.until = std::max(s.until, x.until);
  for (const auto& m : x.marks)
    if (m.step < s.reported)
      breach(to + " was given a mark at state " + std::to_string(m.step) + " after it had reported state "
             + std::to_string(s.reported));
}

void protocol_watch::look(const pull& x, const std::string&, const std::string&) {
  auto& credit = credit_[{static_cast<int32_t>(x.edge), x.attempt}];
  credit = std::max(credit, x.until_step);
}

void protocol_watch::look(const block& x, const std::string& from, const std::string& to) {
  if (from.empty())
    return;  // A late block, which a trouble sent.
  const auto end = x.step + x.count;
  const auto edge = std::pair{static_cast<int32_t>(x.edge), x.attempt};
  const bool is_entry = to.ends_with("outfeed");  // For host calls: credit counts entries.
  if (const auto credit = credit_[edge]; (is_entry ? ++entries_[edge] : end) > credit)
    breach(from + " sent " + to + " " + steps(x.step, end) + " with credit to " + std::to_string(credit));
  if (const auto& s = of(from, x.attempt); s.attempt == x.attempt && end > s.until)
    breach(from + " sent " + steps(x.step, end) + " with a horizon of " + std::to_string(s.until));
}

void protocol_watch::look(const step_report& x, const std::string& from, const std::string&) {
  auto& s = of(from, x.attempt);
  if (s.attempt != x.attempt)
    return;
  const auto end = x.step + static_cast<int64_t>(x.losses.size());
  if (end > s.until)
    breach(from + " reported " + steps(x.step, end) + " with a horizon of " + std::to_string(s.until));
  if (!x.losses.empty() && s.reported >= 0 && x.step > s.reported)
    breach(from + " reported " + steps(x.step, end) + " after state " + std::to_string(s.reported));
  s.reported = std::max(s.reported, end);
  if (const auto gone = gone_.find({static_cast<int32_t>(x.replica), x.attempt});
      gone != gone_.end() && end >= gone->second)
    breach(from + " reported " + steps(x.step, end) + ", and its group has left before state "
           + std::to_string(gone->second));
}

void protocol_watch::look(const record_credit& x, const std::string&, const std::string& to) {
  if (auto& s = of(to, x.attempt); s.attempt == x.attempt)
    s.records_until = std::max(s.records_until, x.until_number);
}

void protocol_watch::look(const flush&, const std::string&, const std::string& to) {
  // The outfeed passes on all records that it has; the horizon bounds their number.
  nodes_[to].records_until = INT64_MAX;
}

void protocol_watch::look(const record& x, const std::string& from, const std::string&) {
  if (auto& s = of(from, x.attempt);
      s.attempt == x.attempt && x.number >= std::max(s.records_until, initial_record_credit))
    breach(from + " sent record " + std::to_string(x.number) + " with room for those below "
           + std::to_string(s.records_until));
}

void protocol_watch::look(const departed& x, const std::string&, const std::string& to) {
  for (const auto& replica : x.replicas)
    if (to == "outfeed")
      gone_.emplace(std::pair{static_cast<int32_t>(replica.id), x.attempt}, x.first_state);
}

/// A gradient is in flight until its sender receives the sum.
void protocol_watch::look(const gradient_part& x, const std::string& from, const std::string& to) {
  auto& steps_sent = gradients_[{from, x.attempt}];
  steps_sent.insert(x.step);
  hold(edge_kind::gradient, from, to, steps_sent.size(), "the gradient of step " + std::to_string(x.step));
}

void protocol_watch::look(const gradient_sum& x, const std::string&, const std::string& to) {
  gradients_[{to, x.attempt}].erase(x.step);
}

/// A part is in flight until its checkpoint is durable. Parts of shown states are not counted: they are lent one at a
/// time.
void protocol_watch::look(const snapshot_part& x, const std::string& from, const std::string& to) {
  if (x.shown)
    return;
  auto& states = parts_[{from, x.attempt}];
  states.insert(x.step);
  hold(edge_kind::part, from, to, states.size(), "the part of state " + std::to_string(x.step));
}

void protocol_watch::look(const committed& x, const std::string&, const std::string&) {
  for (auto& [of, states] : parts_)
    if (of.second == x.attempt)
      states.erase(states.begin(), states.upper_bound(x.id.step));
}

void protocol_watch::hold(edge_kind what, const std::string& from, const std::string& to, size_t sent,
                          const std::string& last) {
  if (const auto most = static_cast<size_t>(row_of(what).credit.messages.value_or(0)); sent > most)
    breach(from + " sent " + to + " " + last + ", the " + std::to_string(sent) + "th on its way, with a credit of "
           + std::to_string(most));
}

template <class... Ms>
void protocol_watch::look_at_one_of(const std::string& from, const std::string& to,
                                    const caf::type_erased_tuple& content) {
  (void)((content.match_elements<Ms>() && (look(content.get_as<Ms>(0), from, to), true)) || ...);
}

void protocol_watch::saw(const std::string& from, const std::string& to, const caf::type_erased_tuple& content) {
  if (from.starts_with("evaluator") || to.starts_with("evaluator"))
    return;  // The nodes of an evaluation begin anew with each, under the same names.
  look_at_one_of<begin, run, pull, block, step_report, record_credit, flush, record, gradient_part, gradient_sum,
                 snapshot_part, departed, committed>(from, to, content);
}

}  // namespace troupe::test::random_faults
