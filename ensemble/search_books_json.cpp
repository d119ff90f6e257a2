#include "ensemble/architecture_json.hpp"
#include "ensemble/names.hpp"
#include "ensemble/reports_json.hpp"
#include "ensemble/search_books.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe {

namespace {

using search_json::entry;
using search_json::json;

constexpr std::string_view books_format = "troupe search";
constexpr int64_t books_version = 1;

// -- writing -------------------------------------------------------------------------

json average_json(const loss_average& x) {
  return {{"value", search_json::as_json(static_cast<double>(x.value))},
          {"biased", search_json::as_json(static_cast<double>(x.biased))},
          {"count", x.count},
          {"penalty", search_json::as_json(static_cast<double>(x.penalty))}};
}

template <class Stop>
json stop_json(const Stop& x) {
  return {{"cause", to_string(x.cause)}, {"step", x.step}, {"detail", x.detail}};
}

void put_stop(json& into, const std::optional<spec_stop>& stop) {
  if (!stop)
    return;
  into["stop"] = stop_json(*stop);
  if (stop->otherwise)
    into["stop"]["otherwise"] = stop_json(*stop->otherwise);
}

void put_number(json& into, const char* key, const std::optional<double>& x) {
  if (x)
    into[key] = search_json::as_json(*x);
}

json subnetwork_json(const search_books::subnetwork& x) {
  json j{{"builder", x.builder}, {"step", x.step}};
  put_stop(j, x.stop);
  return j;
}

json candidate_json(const search_books::candidate& x) {
  json j{{"spec", x.what.spec}, {"recipe", search_json::as_json(x.what.recipe)}, {"average", average_json(x.average)}};
  put_stop(j, x.stop);
  put_number(j, "complexity", x.what.complexity);
  return j;
}

template <class List, class AsJson>
json list_json(const List& list, AsJson as_json) {
  json all = json::array();
  for (const auto& x : list)
    all.push_back(as_json(x));
  return all;
}

json entry_json(const choice::entry& x) {
  json j{{"spec", x.spec}, {"lost", x.lost}};
  put_number(j, "score", x.score);
  put_number(j, "complexity", x.complexity);
  if (x.terms) {
    put_number(j, "loss", x.terms->loss);
    put_number(j, "penalty", x.terms->penalty);
  }
  return j;
}

json winner_json(const search_books::winner& x) {
  return {{"spec", x.spec},
          {"made_in", x.made_in},
          {"recipe", search_json::as_json(x.recipe)},
          {"average", average_json(x.average)},
          {"why", x.why},
          {"candidates", list_json(x.candidates, entry_json)}};
}

// -- reading -------------------------------------------------------------------------

float single_in(const entry& e) {
  const double x = e.number();
  if (std::isfinite(x) && std::abs(x) > static_cast<double>(std::numeric_limits<float>::max()))
    e.refuse("a number of 32 bits");
  return static_cast<float>(x);
}

loss_average average_in(const entry& e) {
  e.require_members({"value", "biased", "count", "penalty"});
  return {single_in(e.at("value")), single_in(e.at("biased")), e.at("count").count(), single_in(e.at("penalty"))};
}

stop_cause cause_in(const entry& e) {
  const auto text = e.text();
  for (const auto cause : {stop_cause::complete, stop_cause::already_complete, stop_cause::hook,
                           stop_cause::end_of_input, stop_cause::dropped})
    if (to_string(cause) == text)
      return cause;
  e.refuse("the cause of a stop");
}

std::optional<spec_stop> stop_in(const entry& e) {
  if (!e.has("stop"))
    return std::nullopt;
  const auto stop = e.at("stop");
  stop.require_members({"cause", "step", "detail"}, {"otherwise"});
  spec_stop x{cause_in(stop.at("cause")), stop.at("step").count(), stop.at("detail").text()};
  if (!stop.has("otherwise"))
    return x;
  const auto other = stop.at("otherwise");
  other.require_members({"cause", "step", "detail"});
  x.otherwise = {cause_in(other.at("cause")), other.at("step").count(), other.at("detail").text()};
  if (x.cause != stop_cause::dropped || x.otherwise->cause == stop_cause::dropped)
    other.refuse("the stop of a spec that was dropped, and none of its own");
  return x;
}

/// A name that becomes part of paths and of variables.
std::string name_in(const entry& e) {
  auto name = e.text();
  if (!check_name("", name))
    e.refuse("a name of letters, digits and _.-/ without '..'");
  return name;
}

std::optional<double> number_in(const entry& e, std::string_view key) {
  return e.has(key) ? std::optional{e.at(key).number()} : std::nullopt;
}

search_books::subnetwork subnetwork_in(const entry& e) {
  e.require_members({"builder", "step"}, {"stop"});
  return {name_in(e.at("builder")), e.at("step").count(), stop_in(e)};
}

search_books::candidate candidate_in(const entry& e) {
  e.require_members({"spec", "recipe", "average"}, {"stop", "complexity"});
  return {{name_in(e.at("spec")), search_json::architecture_in(e.at("recipe")), number_in(e, "complexity")},
          average_in(e.at("average")),
          stop_in(e)};
}

template <class In>
auto list_in(const entry& e, In in) {
  std::vector<decltype(in(e))> all;
  for (const auto& element : e.elements())
    all.push_back(in(element));
  return all;
}

choice::entry entry_in(const entry& e) {
  e.require_members({"spec", "lost"}, {"score", "loss", "penalty", "complexity"});
  if (e.has("loss") != e.has("penalty"))
    e.refuse("an object with both loss and penalty, or none of them");
  choice::entry x{.spec = name_in(e.at("spec")), .score = number_in(e, "score"), .lost = e.at("lost").text()};
  if (e.has("loss"))
    x.terms = objective_terms{e.at("loss").number(), e.at("penalty").number()};
  x.complexity = number_in(e, "complexity");
  return x;
}

search_books::winner winner_in(const entry& e) {
  e.require_members({"spec", "made_in", "recipe", "average", "why", "candidates"});
  return {name_in(e.at("spec")),       e.at("made_in").count(), search_json::architecture_in(e.at("recipe")),
          average_in(e.at("average")), e.at("why").text(),      list_in(e.at("candidates"), entry_in)};
}

/// What the parts of the books say about one another.
void check_books(const entry& e, const search_books& books) {
  if (e.at("iteration").count() != books.iteration())
    e.at("iteration").refuse("the number of winners, " + std::to_string(books.iteration()));
  if (books.tick < books.begins_at)
    e.at("tick").refuse("at least begins_at, " + std::to_string(books.begins_at));
  if (books.subnetworks.empty() != books.candidates.empty())
    e.at("candidates").refuse("empty exactly if there are no subnetworks");
  for (size_t i = 0; i < books.winners.size(); ++i)
    if (const auto& recipe = books.winners[i].recipe;
        recipe.iteration != static_cast<int64_t>(i) || recipe.replay_indices.size() != i + 1)
      e.at("winners").elements()[i].at("recipe").refuse("of iteration " + std::to_string(i)
                                                        + ", with an index for each iteration up to it");
  for (size_t i = 0; i < books.winners.size(); ++i)
    if (books.winners[i].made_in > static_cast<int64_t>(i))
      e.at("winners").elements()[i].at("made_in").refuse("at most its iteration, " + std::to_string(i));
  for (size_t i = 0; i < books.subnetworks.size(); ++i)
    if (const auto& x = books.subnetworks[i]; x.step != made_at({.stop = x.stop}, books.begins_at, books.tick))
      e.at("subnetworks")
          .elements()[i]
          .at("step")
          .refuse("the ticks of the iteration up to the stop of the subnetwork");
}

search_books books_in(const entry& e) {
  if (!e.value().is_object() || !e.has("format") || e.at("format").value() != books_format)
    throw search_json::wrong{"it is no " + std::string{books_format}};
  if (e.has("format_version") && e.at("format_version").count() != books_version)
    throw search_json::wrong{"format version " + std::to_string(e.at("format_version").count())
                                 + ", and this program reads " + std::to_string(books_version),
                             errc::unimplemented};
  e.require_members({"format", "format_version", "iteration", "begins_at", "tick", "global_step", "subnetworks",
                     "candidates", "winners", "reports"});
  search_books books{.begins_at = e.at("begins_at").count(),
                     .tick = e.at("tick").count(),
                     .global_step = e.at("global_step").count(),
                     .subnetworks = list_in(e.at("subnetworks"), subnetwork_in),
                     .candidates = list_in(e.at("candidates"), candidate_in),
                     .winners = list_in(e.at("winners"), winner_in),
                     .reports = search_json::reports_in(e.at("reports"))};
  check_books(e, books);
  return books;
}

}  // namespace

std::string books_text(const search_books& x) {
  return search_json::text_of({{"format", books_format},
                               {"format_version", books_version},
                               {"iteration", x.iteration()},
                               {"begins_at", x.begins_at},
                               {"tick", x.tick},
                               {"global_step", x.global_step},
                               {"subnetworks", list_json(x.subnetworks, subnetwork_json)},
                               {"candidates", list_json(x.candidates, candidate_json)},
                               {"winners", list_json(x.winners, winner_json)},
                               {"reports", search_json::as_json(x.reports)}});
}

expected<search_books> parse_books(std::string_view text, const std::string& name) {
  return search_json::read(text, name, books_in);
}

}  // namespace troupe
