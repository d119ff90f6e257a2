#include "actors/chief/searching.hpp"

#include "ensemble/architecture.hpp"
#include "ensemble/graphs/models.hpp"
#include "ensemble/names.hpp"
#include "words/expect.hpp"

#include <algorithm>
#include <limits>

namespace troupe {

namespace {

std::string key() { return std::string{search_books_blob}; }

/// With the own steps after which the plan has the group of a subnetwork stop.
subnetwork_spec spec_of(const std::string& builder, const std::string& group, const std::vector<plan_group>& groups) {
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const plan_group& g) { return g.name == group; });
  if (found == groups.end())
    return {builder};
  const auto own_steps = [&found](const std::optional<int64_t>& at) {
    return at ? std::optional{*at - found->begins_at} : std::nullopt;
  };
  const bool by_input = found->input_ends_at && found->retires_at == found->input_ends_at;
  return {builder, by_input ? std::nullopt : own_steps(found->retires_at), own_steps(found->input_ends_at)};
}

}  // namespace

searching::searching(search_rules rules) : demands_any_(rules.choice.evaluator || rules.makes_reports) {
  search_.emplace(std::move(rules));
}

void searching::use(const blobs& of_plan, const std::vector<plan_group>& groups) {
  const auto text = of_plan.find(key());
  expect(text != of_plan.end(), "the plan of a search has no books");
  auto books = parse_books(text->second, "the plan");
  expect(books.has_value(), "the books of a plan cannot be read");
  of_plan_ = std::move(*books);
  specs_ = {};
  for (const auto& x : of_plan_.subnetworks)
    specs_.subnetworks.push_back(spec_of(x.builder, subnetwork_spec_name(of_plan_.iteration(), x.builder), groups));
  for (const auto& x : of_plan_.candidates)
    specs_.candidates.push_back(x.what);
  stops_.clear();
  own_reports_.clear();
  if (const auto own = of_plan.find(std::string{own_reports_blob}); own != of_plan.end()) {
    const auto reports = parse_reports(own->second, "the plan");
    expect(reports.has_value() && reports->size() == 1, "the reports of a plan cannot be read");
    for (const auto& r : reports->front())
      own_reports_.push_back({r.hparams, r.attributes, {}});
  }
}

expected<void> searching::begin(const std::optional<checkpoint_id>& at, const blobs& of_commit,
                                const std::string& prefix) {
  begun_ = true;
  leaders_.clear();
  contenders_.clear();
  scores_.clear();
  unscored_.clear();
  auto done = begin_search(at, of_commit, prefix);
  for (const auto& [group, stop] : stops_)
    done = done.and_then([&] { return search_->stopped(group, stop); });
  if (done)
    look_at_standing();
  return done;
}

expected<void> searching::begin_search(const std::optional<checkpoint_id>& at, const blobs& of_commit,
                                       const std::string& prefix) {
  if (!at || at->iteration != of_plan_.iteration())
    return search_->begin(as_begun(of_plan_), specs_);  // The plan may be of a later commit, which is damaged.
  const auto text = of_commit.find(key());
  if (text == of_commit.end())
    return fail(errc::data_loss, prefix + " has no books of a search (blob '" + key() + "')");
  auto books = parse_books(text->second, prefix);
  if (!books)
    return fail(std::move(books.error()));
  return search_->begin(std::move(*books), specs_);
}

expected<void> searching::measured(int64_t step, const std::map<std::string, double>& values) {
  return search_->measured(step, told_averages(of_plan_, values));
}

expected<void> searching::dropped(const std::string& group, int64_t step, const std::string& why) {
  return search_->dropped(group, step, why);
}

expected<void> searching::stopped(const std::string& group, spec_stop stop) {
  stops_.insert_or_assign(group, stop);
  return search_->stopped(group, std::move(stop));
}

std::optional<spec_stop> searching::stop_of(const std::string& group) const {
  const auto stop = begun_ ? search_->stop_of(group) : std::nullopt;
  return stop && stop->cause == stop_cause::dropped ? std::nullopt : stop;
}

std::optional<searching::demand> searching::demanded() const {
  if (const auto* scores = std::get_if<score_candidates>(&search_->wanted()))
    return demand{evaluation_purpose::choice, scores->commit};
  if (const auto* reports = std::get_if<report_specs>(&search_->wanted()))
    return demand{evaluation_purpose::reports, reports->commit};
  if (const auto at_end = search_->scores_at_end())
    return demand{evaluation_purpose::choice, *at_end};
  return std::nullopt;
}

/// Empty for a spec that has left: its variables are not in the checkpoint.
std::map<std::string, double> searching::metrics_of_spec(const std::map<std::string, double>& all,
                                                         const std::string& spec, int64_t step) const {
  return search_->has_left(spec, step) ? std::map<std::string, double>{} : metrics_of(all, spec);
}

expected<void> searching::evaluated(const std::map<std::string, double>& metrics) {
  const auto wanted = demanded();
  expect(wanted.has_value(), "a search hears of an evaluation that it did not demand");
  const auto found = [&](const std::string& spec) { return metrics_of_spec(metrics, spec, wanted->commit.step); };
  const auto candidates = scores_in(metrics, wanted->commit.step);
  candidate_scores subnetworks;
  if (wanted->purpose == evaluation_purpose::choice)
    return search_->scored(candidates);
  for (const auto& spec : specs_of_subnetworks())
    subnetworks.push_back(found(spec));
  search_->reported(make_reports(specs_, iteration(), own_reports_, subnetworks, candidates));
  return {};
}

candidate_scores searching::scores_in(const std::map<std::string, double>& metrics, int64_t step) const {
  candidate_scores candidates;
  for (const auto& x : specs_.candidates)
    candidates.push_back(metrics_of_spec(metrics, x.spec, step));
  return candidates;
}

bool searching::lacks_scores(checkpoint_id commit) const {
  const auto all = contenders_.find(commit.step);
  return commit.iteration == iteration() && all != contenders_.end() && !scores_.contains(commit.step)
         && !unscored_.contains(commit.step) && search_->wants_scores_of(all->second);
}

expected<void> searching::scored(int64_t step, const std::map<std::string, double>& metrics) {
  const auto scores = scores_in(metrics, step);
  auto leads = search_->leader_of(contenders_.at(step), scores);
  if (!leads)
    return fail(std::move(leads.error()));
  leaders_[step] = std::move(*leads);
  scores_[step] = scores;
  return {};
}

expected<bool> searching::answer_by_scores() {
  const auto wanted = demanded();
  if (!wanted || wanted->purpose != evaluation_purpose::choice || !scores_.contains(wanted->commit.step))
    return false;
  return search_->scored(scores_.at(wanted->commit.step)).map([] { return true; });
}

std::vector<std::string> searching::specs_of_subnetworks() const {
  std::vector<std::string> all;
  for (const auto& x : specs_.subnetworks)
    all.push_back(subnetwork_spec_name(iteration(), x.builder));
  return all;
}

std::optional<int64_t> searching::ends_at() const {
  if (const auto* trains = std::get_if<train_until>(&search_->wanted()))
    return trains->until;
  return search_->last_commit();
}

searching::blobs searching::blobs_at(int64_t step) const { return {{key(), books_text(search_->books_at(step))}}; }

expected<void> searching::committed(int64_t step) {
  auto heard = search_->committed(step);
  look_at_standing();
  return heard;
}

void searching::look_at_standing() {
  standing_ = search_->standing();
  leader_ = search_->leader();
  const auto step = search_->last_commit();
  if (leader_ && !scores_.contains(step))
    leaders_[step] = *leader_;
  contenders_[step] = standing_;
  const auto bound = [](auto& of_commits) {
    if (of_commits.size() > commits_max)
      of_commits.erase(of_commits.begin());
  };
  bound(leaders_);
  bound(contenders_);
  bound(scores_);
  bound(unscored_);
}

std::vector<candidate_progress> searching::candidates(const std::map<std::string, group_loss>& losses) const {
  std::vector<candidate_progress> all;
  const auto before = of_plan_.previous();
  for (const auto& one : standing_) {
    const bool is_previous = before && before->spec == one.spec;
    const auto loss = losses.find(is_previous ? std::string{previous_group_name} : one.spec);
    if (loss == losses.end())
      continue;  // It has left, or has made no step yet.
    all.push_back({.spec = one.spec, .loss = loss->second.mean, .leads = one.spec == leader_});
    if (one.average.count > 0)
      all.back().average = static_cast<double>(one.average.value);
  }
  return all;
}

std::optional<std::string> searching::known_leader(checkpoint_id commit) const {
  const auto known = leaders_.find(commit.step);
  return commit.iteration != iteration() || known == leaders_.end() ? std::nullopt : std::optional{known->second};
}

std::optional<std::string> searching::leader_at(int64_t step) const {
  const auto known = leaders_.find(step);
  return known == leaders_.end() ? search_->leader() : std::optional{known->second};
}

std::string searching::architecture_of(const std::optional<std::string>& spec) const {
  for (const auto& x : specs_.candidates)
    if (x.spec == spec)
      return ensembles_text(x.recipe);
  return {};
}

std::vector<evaluated_part> searching::evaluated_parts() const {
  std::vector<evaluated_part> all;
  for (const auto& spec : specs_of_subnetworks())
    all.push_back({spec, subnetwork_directory(spec)});
  for (const auto& x : specs_.candidates)
    all.push_back({x.spec, ensemble_directory(x.spec), ensembles_text(x.recipe)});
  return all;
}

std::map<std::string, double> searching::with_leader(int64_t step, std::map<std::string, double> metrics) const {
  erase_metrics_of(metrics, [&](const std::string& spec) { return search_->has_left(spec, step); });
  const auto leads = leader_at(step);
  if (!leads) {
    metrics["loss"] = std::numeric_limits<double>::quiet_NaN();  // The evaluation's own is always 0.
    return metrics;
  }
  auto own = metrics_of(metrics, *leads);
  if (const auto of_head = own.extract(std::string{head_loss_metric}))
    own["loss"] = of_head.mapped();
  own.merge(metrics);
  return own;
}

std::map<std::string, double> searching::without_candidates(std::map<std::string, double> metrics) const {
  erase_metrics_of(metrics, [](const std::string&) { return true; });
  return metrics;
}

/// Erases the metrics of the candidates and subnetworks for which `erased` is true.
template <class Condition>
void searching::erase_metrics_of(std::map<std::string, double>& metrics, Condition erased) const {
  auto specs = specs_of_subnetworks();
  for (const auto& x : specs_.candidates)
    specs.push_back(x.spec);
  for (const auto& spec : specs)
    if (erased(spec))
      std::erase_if(metrics, [&](const auto& metric) { return metric.first.starts_with(spec + "/"); });
}

searching::blobs searching::grown_blobs() const { return {{key(), books_text(grows()->books)}}; }

}  // namespace troupe
