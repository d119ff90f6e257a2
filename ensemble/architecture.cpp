#include "ensemble/architecture.hpp"

#include "ensemble/architecture_json.hpp"

#include <algorithm>

namespace troupe {

namespace search_json {

json as_json(const ensemble_member& m) { return {{"builder_name", m.builder}, {"iteration_number", m.iteration}}; }

json as_json(const architecture& a) {
  json members = json::array();
  for (const auto& member : a.members)
    members.push_back(as_json(member));
  return {{"ensemble_candidate_name", a.candidate}, {"ensembler_name", a.ensembler},
          {"global_step", a.global_step},           {"iteration_number", a.iteration},
          {"replay_indices", a.replay_indices},     {"subnetworks", members}};
}

ensemble_member member_in(const entry& e) {
  e.require_members({"builder_name", "iteration_number"});
  return {e.at("iteration_number").count(), e.at("builder_name").text()};
}

architecture architecture_in(const entry& e) {
  e.require_members({"ensemble_candidate_name", "ensembler_name", "global_step", "iteration_number", "replay_indices",
                     "subnetworks"});
  architecture a{.candidate = e.at("ensemble_candidate_name").text(),
                 .ensembler = e.at("ensembler_name").text(),
                 .iteration = e.at("iteration_number").count(),
                 .global_step = e.at("global_step").count()};
  for (const auto& index : e.at("replay_indices").elements())
    a.replay_indices.push_back(index.count());
  for (const auto& member : e.at("subnetworks").elements()) {
    a.members.push_back(member_in(member));
    if (a.members.back().iteration > a.iteration)
      member.at("iteration_number").refuse("at most the iteration of the ensemble, " + std::to_string(a.iteration));
  }
  return a;
}

}  // namespace search_json

std::map<int64_t, std::vector<std::string>> grouped(const architecture& a) {
  std::map<int64_t, std::vector<std::string>> groups;
  for (const auto& member : a.members)
    groups[member.iteration].push_back(member.builder);
  return groups;
}

std::string ensembles_text(const architecture& a) {
  std::string text = "|";
  for (const auto& member : a.members)
    text += " " + member.builder + " |";
  return text;
}

std::vector<int64_t> replay_with(const std::optional<architecture>& previous, int64_t winner) {
  auto indices = previous ? previous->replay_indices : std::vector<int64_t>{};
  indices.push_back(winner);
  return indices;
}

std::string architecture_text(const architecture& a) { return search_json::text_of(search_json::as_json(a)); }

expected<architecture> parse_architecture(std::string_view text, const std::string& file) {
  return search_json::read(text, file, search_json::architecture_in);
}

}  // namespace troupe
