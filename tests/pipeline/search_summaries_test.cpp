// The event files of a search: which tags are in which directories, and what stays of them over interruptions.
#include "support/ended_jobs.hpp"
#include "support/event_files.hpp"
#include "support/small_search.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using tags = std::set<std::string>;

builder summarised_dnn() {
  return {.name = "dnn",
          .build = [](graph& g, const build_context& c) -> subnetwork {
            const auto h = nn::dense(c.features["x"], {.units = 4, .activation = relu, .name = "hidden"});
            g.scalar("complexity", g.constant(tensor::scalar(3.f)));
            return {.last_layer = h, .logits = nn::dense(h, {.units = 3, .name = "logits"}), .complexity = 3};
          },
          .optimizer = adam{.rate = 0.02f}};
}

small_search of_dnn() {
  small_search s;
  s.o.max_steps = 3;
  s.search.subnetwork_generator = generators::list({summarised_dnn()});
  return s;
}

void run_recorded(const small_search& s, const std::string& evaluation = {}) {
  auto job = describe_search(s);
  job.basis.config.summary_steps = 2;
  for (auto& e : job.evaluations)
    e.data.name = evaluation;
  run_to_end(std::move(job));
}

tags tags_in(const small_search& s, const std::string& directory) {
  tags all;
  for (const auto& e : events_in(*s.o.files, join_path("/run", directory)))
    for (const auto& v : e.values)
      all.insert(v.tag);
  return all;
}

std::string text_in(const small_search& s, const std::string& directory, const std::string& tag) {
  std::string last;
  for (const auto& e : events_in(*s.o.files, join_path("/run", directory)))
    for (const auto& v : e.values)
      if (v.tag == tag)
        last = v.text;
  return last;
}

void add_directories(file_system& files, const std::string& below, std::vector<std::string>& all) {
  all.push_back(below);
  const auto there = files.list(join_path("/run", below));
  REQUIRE(there);
  for (const auto& f : *there)
    if (f.directory)
      add_directories(files, below.empty() ? f.name : join_path(below, f.name), all);
}

/// Every value of every event file, by directory, tag and step, as readers see them: a note of a start takes back the
/// values of its step and of later ones. Without the speed.
std::map<std::string, double> recorded_in(const small_search& s) {
  std::map<std::string, double> all;
  std::vector<std::string> directories;
  add_directories(*s.o.files, "", directories);
  for (const auto& directory : directories) {
    std::map<std::pair<int64_t, std::string>, double> here;
    for (const auto& e : events_in(*s.o.files, join_path("/run", directory))) {
      if (e.note && e.note->what == session_note::kind::start)
        here.erase(here.lower_bound({e.step, ""}), here.end());
      for (const auto& v : e.values)
        if (!v.tag.ends_with("/sec"))
          here[{e.step, v.tag}] = v.what == summary_value::kind::histogram ? v.histogram.sum : v.scalar;
    }
    for (const auto& [key, value] : here)
      all[directory + ":" + key.second + "@" + std::to_string(key.first)] = value;
  }
  return all;
}

const tags of_root{"loss", "iteration/adanet/iteration"};
const tags of_subnetwork{"iteration_step/adanet/iteration_step",
                         "loss",
                         "complexity",
                         "learning_rate",
                         "hidden/kernel",
                         "hidden/bias",
                         "logits/kernel",
                         "logits/bias"};

}  // namespace

TEST_CASE("[ADA-22.8 summaries] after three steps with a period of two, each spec has its tags in its directory") {
  auto s = of_dnn();
  run_recorded(s);
  CHECK(tags_in(s, "") == of_root);
  CHECK(tags_in(s, "subnetwork/t0_dnn") == of_subnetwork);
  CHECK(tags_in(s, "ensemble/t0_dnn_grow_cr")
        == tags{"iteration_step/adanet/iteration_step", "loss", "learning_rate",
                "adanet_loss/adanet/adanet_weighted_ensemble",
                "complexity_regularization/adanet/adanet_weighted_ensemble",
                "mixture_weights/adanet/adanet_weighted_ensemble",
                "mixture_weight_norms/adanet/adanet_weighted_ensemble/subnetwork_0",
                "mixture_weight_fractions/adanet/adanet_weighted_ensemble/subnetwork_0",
                "weighted_subnetwork_0/logits/mixture_weight"});
  CHECK(recorded_in(s).at("subnetwork/t0_dnn:iteration_step/adanet/iteration_step@2") == 2);
  CHECK(recorded_in(s).at(":loss@2") == recorded_in(s).at("ensemble/t0_dnn_grow_cr:loss@2"));
}

TEST_CASE("[ADA-22.8 summaries] specs whose summaries are disabled have none, and the search has its own still") {
  for (const bool subnetworks : {false, true})
    for (const bool ensembles : {false, true}) {
      auto s = of_dnn();
      s.search.enable_subnetwork_summaries = subnetworks;
      s.search.enable_ensemble_summaries = ensembles;
      run_recorded(s);
      CHECK(tags_in(s, "") == of_root);
      CHECK(tags_in(s, "subnetwork/t0_dnn") == (subnetworks ? of_subnetwork : tags{}));
      CHECK(tags_in(s, "ensemble/t0_dnn_grow_cr").empty() == !ensembles);
      auto other = of_dnn();
      run_recorded(other);
      CHECK(recorded_in(s).at(":loss@2") == recorded_in(other).at(":loss@2"));
    }
}

TEST_CASE("[ADA-22.8 evaluation files] what an evaluation finds of each spec is in a directory of it, by plain names") {
  for (const std::string name : {"", "test"}) {
    const std::string folder = name.empty() ? "eval" : "eval_test";
    auto s = of_dnn();
    s.o.evaluates = true;
    run_recorded(s, name);
    const tags of_head{"accuracy", "average_loss", "loss"};
    CHECK(tags_in(s, "subnetwork/t0_dnn/" + folder) == of_head);
    for (const std::string ensemble : {"", "ensemble/t0_dnn_grow_cr/"}) {
      auto wanted = of_head;
      wanted.insert({"adanet_loss", "architecture/adanet/ensembles", "checkpoint_path"});
      if (!ensemble.empty())
        wanted.erase("checkpoint_path");
      CHECK(tags_in(s, ensemble + folder) == wanted);
      CHECK(text_in(s, ensemble + folder, "architecture/adanet/ensembles") == "| dnn |");
    }
  }
}

TEST_CASE("the previous ensemble goes on in its directory, and the architecture of the winner names all its members") {
  small_search s;
  s.o.evaluates = true;
  run_recorded(s);
  const auto books = newest_books(s.o.files);
  const auto& first = books.winners.at(0);
  const auto values = recorded_in(s);
  CHECK(values.contains(ensemble_directory(first.spec) + ":loss@10"));
  CHECK(values.contains(ensemble_directory(first.spec) + ":loss@12"));
  CHECK_FALSE(tags_in(s, "").contains("previous/loss"));
  CHECK(tags_in(s, "") == of_root);
  CHECK(values.at(":iteration/adanet/iteration@10") == 0);
  CHECK(values.at(":iteration/adanet/iteration@12") == 1);
  CHECK(text_in(s, "eval", "architecture/adanet/ensembles").find(" | ") != std::string::npos);
}

TEST_CASE("event files of a search have the same values in any order of turns, and wherever it was killed") {
  const auto wanted = [] {
    small_search s;
    s.o.evaluates = true;
    run_recorded(s);
    return recorded_in(s);
  }();
  CHECK(wanted.size() > 100);
  for (int64_t turns = 50; turns < 4'000; turns += 211) {
    CAPTURE(turns);
    small_search s;
    s.o.evaluates = true;
    const auto prepared = [&] {
      auto job = describe_search(s);
      job.basis.config.summary_steps = 2;
      auto made = prepare(std::move(job));
      REQUIRE(made);
      return *made;
    };
    bool over = false;
    {
      simulated_job job{prepared(), static_cast<uint64_t>(turns)};
      for (int64_t i = 0; i < turns && !over; ++i)
        over = !job.crank() || job.ended();
    }
    if (!over) {
      simulated_job next{prepared(), 3};
      run_to_end(next);
    }
    CHECK(recorded_in(s) == wanted);
  }
}

}  // namespace troupe::test
