#include "words/json_text.hpp"
#include "words/prometheus_text.hpp"
#include "words/text.hpp"

#include <troupe/job_report.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace troupe {

namespace {

struct share_row {
  std::string_view name;
  double (*seconds)(const actor_report&);
};

/// In the order of the columns of a report.
constexpr std::array<share_row, 6> shares{{
    {"busy", [](const actor_report& a) { return a.busy_seconds; }},
    {"input", [](const actor_report& a) { return a.waiting_seconds.input; }},
    {"peers", [](const actor_report& a) { return a.waiting_seconds.peers; }},
    {"room", [](const actor_report& a) { return a.waiting_seconds.room; }},
    {"arena", [](const actor_report& a) { return a.waiting_seconds.arena; }},
    {"horizon", [](const actor_report& a) { return a.waiting_seconds.horizon; }},
}};
enum share_index : size_t { busy, input, peers, room, arena, horizon };

std::string percent(double share) { return std::to_string(std::lround(100 * std::clamp(share, 0.0, 1.0))) + " %"; }
double share_of(const actor_report& a, size_t which) {
  return a.seconds() > 0 ? shares[which].seconds(a) / a.seconds() : 0;
}

/// The actor of these roles that is at work for the largest share of its time; null if none has answered.
const actor_report* busiest(const job_report& r, std::initializer_list<std::string_view> roles) {
  const actor_report* found = nullptr;
  for (const auto& a : r.actors)
    if (a.answered && a.driver.empty() && std::find(roles.begin(), roles.end(), a.role) != roles.end()
        && (!found || share_of(a, busy) > share_of(*found, busy)))
      found = &a;
  return found;
}

/// The end of a sentence about a lack: who of these roles could have given it.
std::string at_work(const job_report& r, std::initializer_list<std::string_view> roles) {
  for (const auto& a : r.actors)
    if (!a.answered && a.driver.empty() && std::find(roles.begin(), roles.end(), a.role) != roles.end())
      return ", and " + a.name + " does not answer: it is in the midst of its work.";
  const auto* who = busiest(r, roles);
  return who ? ", and " + who->name + " is at work " + percent(share_of(*who, busy)) + " of it." : ".";
}

/// The replica that waits least for the others.
const actor_report* slowest(const std::vector<const actor_report*>& replicas) {
  return *std::min_element(replicas.begin(), replicas.end(),
                           [](const auto* a, const auto* b) { return share_of(*a, peers) < share_of(*b, peers); });
}

/// The share of their time that the replicas except `last` wait for others, on average.
double waiting_of_others(const std::vector<const actor_report*>& replicas, const actor_report& last) {
  double all = 0;
  for (const auto* a : replicas)
    all += a == &last ? 0 : share_of(*a, peers);
  return replicas.size() > 1 ? all / static_cast<double>(replicas.size() - 1) : 0;
}

std::string padded(std::string_view text, size_t width, bool right) {
  const std::string space(width > text.size() ? width - text.size() : 0, ' ');
  return right ? space + std::string{text} : std::string{text} + space;
}

actor_report difference(actor_report later, const actor_report& earlier) {
  const bool grew = std::all_of(shares.begin(), shares.end(),
                                [&](const share_row& s) { return s.seconds(later) >= s.seconds(earlier); });
  if (!later.answered || !earlier.answered || !grew || later.messages < earlier.messages)
    return later;  // A count that fell was begun anew.
  later.busy_seconds -= earlier.busy_seconds;
  auto& waits = later.waiting_seconds;
  waits.input -= earlier.waiting_seconds.input;
  waits.peers -= earlier.waiting_seconds.peers;
  waits.room -= earlier.waiting_seconds.room;
  waits.arena -= earlier.waiting_seconds.arena;
  waits.horizon -= earlier.waiting_seconds.horizon;
  later.messages -= earlier.messages;
  later.bytes -= earlier.bytes;
  return later;
}

}  // namespace

job_report since(const job_report& later, const job_report& earlier) {
  job_report part = later;
  part.seconds -= earlier.seconds;
  for (auto& a : part.actors)
    for (const auto& before : earlier.actors)
      if (before.name == a.name)
        a = difference(std::move(a), before);
  return part;
}

std::string bound_by(const job_report& r) {
  std::vector<const actor_report*> replicas;
  for (const auto& a : r.actors)
    if (a.role == "replica" && a.driver.empty() && a.answered && a.seconds() > 0)
      replicas.push_back(&a);
  if (std::any_of(r.actors.begin(), r.actors.end(), [](const actor_report& a) { return a.role == "follower"; }))
    return "This process evaluates what another one trains: that one says what bounds the job.";
  if (replicas.empty())
    return "No replica has said what it does: each is in the midst of a step, or none is there.";
  const auto* const last = slowest(replicas);
  const double others = waiting_of_others(replicas, *last);
  const bool one = others - share_of(*last, peers) > 0.2;
  if (one)
    replicas = {last};  // What it lacks bounds the job.
  std::array<double, shares.size()> seconds{};
  double total = 0;
  for (const auto* a : replicas) {
    for (size_t i = 0; i < shares.size(); ++i)
      seconds[i] += shares[i].seconds(*a);
    total += a->seconds();
  }
  const auto most = static_cast<size_t>(std::max_element(seconds.begin(), seconds.end()) - seconds.begin());
  const std::string share = percent(seconds[most] / total);
  const std::string who = one ? last->name + " waits" : "replicas wait";
  switch (most) {
    case busy:
      if (one)
        return "One replica bounds the job: the others wait for " + last->name + " " + percent(others)
               + " of the time, and it is at work " + share + " of it.";
      return "Computation bounds the job: replicas are at work " + share + " of the time.";
    case input:
      return "The data bound the job: " + who + " for batches " + share + " of the time" + at_work(r, {"infeed"});
    case peers:
      return "The reduction bounds the job: replicas wait for each other " + share + " of the time"
             + at_work(r, {"reducer"});
    case room:
      return "A receiver bounds the job: " + who + " for room " + share + " of the time"
             + at_work(r, {"outfeed", "summary_writer"});
    case arena:
      return "Saves bound the job: " + who + " for memory that snapshots hold " + share + " of the time"
             + at_work(r, {"checkpoint_writer", "evaluator"});
    default:
      return "Nothing that replicas lack: they wait for a grant of steps " + share + " of the time"
             + at_work(r, {"callbacks", "evaluator", "checkpoint_writer"});
  }
}

std::string to_text(const job_report& r) {
  size_t width = 0;
  for (const auto& a : r.actors)
    width = std::max(width, a.name.size());
  constexpr size_t column = 9;
  std::string text = padded("", width, false);
  for (const auto& s : shares)
    text += padded(s.name, column, true);
  text += padded("messages", column + 2, true) + padded("MB", column, true) + padded("queued", column, true)
          + padded("mailbox", column, true) + "\n";
  for (const auto& a : r.actors) {
    text += padded(a.name, width, false);
    if (!a.answered) {
      text += "  in the midst of a long step, read or write\n";
      continue;
    }
    for (size_t i = 0; i < shares.size(); ++i)
      text += padded(percent(share_of(a, i)), column, true);
    text += padded(std::to_string(a.messages), column + 2, true)
            + padded(std::to_string(a.bytes / 1'000'000), column, true) + padded(std::to_string(a.queued), column, true)
            + padded(std::to_string(a.mailbox_max), column, true) + "\n";
  }
  return text + bound_by(r) + "\n";
}

std::string to_json(const job_report& r) {
  using json_text::json;
  json all{{"seconds", json_text::as_json(r.seconds)}, {"step", r.step}, {"bound_by", bound_by(r)}};
  all["actors"] = json::array();
  for (const auto& a : r.actors) {
    json one{{"name", a.name},
             {"role", a.role},
             {"answered", a.answered},
             {"messages", a.messages},
             {"bytes", a.bytes},
             {"queued", a.queued},
             {"queued_max", a.queued_max},
             {"mailbox", a.mailbox},
             {"mailbox_max", a.mailbox_max}};
    if (!a.driver.empty())
      one["driver"] = a.driver;
    one["busy_seconds"] = json_text::as_json(a.busy_seconds);
    for (size_t i = input; i < shares.size(); ++i)
      one["waiting_seconds"][std::string{shares[i].name}] = json_text::as_json(shares[i].seconds(a));
    all["actors"].push_back(std::move(one));
  }
  return json_text::text_of(all);
}

std::string to_prometheus(const job_report& r) {
  using kind = prometheus_text::kind;
  prometheus_text all;
  all.begin("troupe_job_step", kind::gauge, "The state that was reached.");
  all.add(r.step);
  const auto each = [&](std::string_view name, kind what, std::string_view help, auto value) {
    all.begin(name, what, help);
    for (const auto& a : r.actors)
      if (a.answered)
        all.add(value(a), {{"actor", a.name}});
  };
  each("troupe_actor_busy_seconds_total", kind::counter, "Time at work.", shares[busy].seconds);
  all.begin("troupe_actor_waiting_seconds_total", kind::counter, "Time spent waiting, by what was lacking.");
  for (const auto& a : r.actors)
    for (size_t i = input; a.answered && i < shares.size(); ++i)
      all.add(shares[i].seconds(a), {{"actor", a.name}, {"for", shares[i].name}});
  each("troupe_actor_messages_total", kind::counter, "Messages handled.",
       [](const actor_report& a) { return a.messages; });
  each("troupe_actor_bytes_total", kind::counter, "Bytes of the tensors in them.",
       [](const actor_report& a) { return a.bytes; });
  each("troupe_actor_queued", kind::gauge, "Batches that have arrived and are not used yet.",
       [](const actor_report& a) { return a.queued; });
  each("troupe_actor_mailbox", kind::gauge, "Messages that have arrived and are not handled yet.",
       [](const actor_report& a) { return a.mailbox; });
  return all.text();
}

}  // namespace troupe
