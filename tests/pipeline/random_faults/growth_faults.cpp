#include "pipeline/random_faults/growth_faults.hpp"

#include "actors/chief/decisions.hpp"
#include "pipeline/random_faults/draw_recipe.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "support/growing_job.hpp"
#include "support/small_search.hpp"

#include <map>

namespace troupe::test::random_faults {

namespace {

constexpr int64_t processes_max = 6;

/// What differs between the jobs.
struct growing_kind {
  std::vector<std::string> nodes;
  int64_t last_step = 0;
};

growing_kind kind_of(const growth_recipe& r) {
  growing_kind all{{"agent", "preparer", "chief", "checkpoint_writer", "summary_writer", "callbacks", "outfeed"}, 40};
  const auto add = [&](std::initializer_list<std::string> more) {
    all.nodes.insert(all.nodes.end(), more.begin(), more.end());
  };
  if (!r.searches) {
    add({"feed", "a/replica/0", "b/replica/0", "c/replica/0", "d/replica/0", "mixture/replica/0", "feed",
         "mixture/replica/0", "a/replica/0"});
    return all;
  }
  all.last_step = 30;
  add({"infeed/0", "infeed/0", "previous/replica/0", "t0_linear/replica/0", "t0_linear_grow_cr/replica/0",
       "t0_1_layer_dnn/replica/0", "t1_1_layer_dnn/replica/0", "t0_1_layer_dnn_grow_cr/replica/0"});
  if (r.demands)
    add({"chooser", "reporter", "chooser/replica/0", "reporter/infeed/0"});
  return all;
}

/// `on_plan` is called whenever an iteration is planned.
training_job described(const growth_recipe& r, const std::shared_ptr<file_system>& files,
                       std::function<void()> on_plan) {
  if (!r.searches) {
    growing_options j;
    j.o.files = files;
    j.o.replicas = r.replicas;
    j.o.reducers = r.reducers;
    j.o.evaluates = r.evaluates;
    j.o.recovers = r.attempts;
    j.on_plan = [on_plan = std::move(on_plan)](int64_t) { on_plan(); };
    return growing_job(j);
  }
  small_search s;
  s.o.files = files;
  s.o.replicas = r.replicas;
  s.o.reducers = r.reducers;
  s.o.shards = 2;
  s.o.evaluates = r.evaluates;
  s.o.recovers = r.attempts;
  if (r.demands) {
    s.search.evaluator = search_evaluator{.input = small_dataset(16).batch(4)};
    s.search.report_materializer = report_materializer{.input = small_dataset(8).batch(4)};
  }
  s.search.subnetwork_generator = [on_plan = std::move(on_plan),
                                   inner = s.search.subnetwork_generator](const generator_input& in) {
    on_plan();
    return inner(in);
  };
  return describe_search(s);
}

const checkpoint_content& undisturbed(const growth_recipe& r) {
  static std::map<std::tuple<int64_t, bool, bool, bool>, checkpoint_content> known;
  auto& found = known[{r.replicas, r.evaluates, r.searches, r.demands}];
  if (found.tensors.empty()) {
    const auto disk = memory_disk::make();
    auto prepared = prepare(described(r, disk, [] {}));
    if (!prepared)
      throw std::runtime_error(to_text(prepared.error()));
    simulated_job job{std::move(*prepared), 1};
    const auto result = job.wait(std::chrono::hours{2});
    if (!result || !*result)
      throw std::runtime_error("the undisturbed job failed");
    found = newest_checkpoint(disk).content;
  }
  return found;
}

/// Flips a bit in each data file of the newest `count` commits.
void damage_newest(file_system& disk, int64_t count) {
  auto names = disk.list("/run");
  if (!names)
    return;
  std::vector<std::string> data;
  for (const auto& entry : *names)
    if (entry.name.starts_with("model.ckpt-") && entry.name.ends_with(".safetensors"))
      data.push_back(entry.name);
  const auto number = [](const std::string& name) {
    return std::strtoll(name.c_str() + std::string_view{"model.ckpt-"}.size(), nullptr, 10);
  };
  std::sort(data.begin(), data.end(), [&](const std::string& a, const std::string& b) {
    // At equal steps the later iteration has the longer name.
    return std::pair{number(a), a.size()} < std::pair{number(b), b.size()};
  });
  for (int64_t i = 0; i < count && !data.empty(); ++i, data.pop_back()) {
    auto content = read_file(disk, join_path("/run", data.back()));
    if (!content || content->empty())
      continue;
    (*content)[content->size() - 1] ^= 1;
    static_cast<void>(write_file_atomically(disk, "/run", data.back(), *content));
  }
}

bool in(growth_trouble what, std::initializer_list<growth_trouble> all) {
  return std::find(all.begin(), all.end(), what) != all.end();
}

/// Runs one process of the job. Nothing: the process was killed.
std::optional<expected<train_result>> run_once(const growth_recipe& r, const std::shared_ptr<memory_disk>& disk,
                                               int64_t process, std::vector<std::string>& wrong) {
  const bool disturbed = process == 0;
  const auto faulty = faulty_file_system::around(disk);
  int plans = 0;
  // A search proposes the specs of earlier iterations again whenever it plans one.
  const int fails_at = r.searches ? 2 + static_cast<int>(r.seed % 5) : 2;
  auto prepared = prepare(described(r, faulty, [&] {
    if (disturbed && r.what == growth_trouble::planner && ++plans == fails_at)
      throw std::runtime_error("a planner's trouble");
  }));
  if (!prepared)
    return expected<train_result>{fail(prepared.error())};
  simulated_job job{std::move(*prepared), r.seed + static_cast<uint64_t>(process)};
  if (disturbed) {
    job.crank_until([&] { return job.progress().step >= r.from || job.ended(); });
    if (r.what == growth_trouble::disk)
      faulty->fail_after(r.turns, r.seed % 2 == 0);
    else if (r.what == growth_trouble::outage)
      faulty->inject({.nth = r.turns + 1,
                      .category = errc::unavailable,
                      .reason = "the file server does not answer",
                      .path_contains = "/run/model.ckpt"});
    else
      for (int64_t i = 0; i < r.turns && !job.ended(); ++i)
        job.crank();
    if (in(r.what, {growth_trouble::process, growth_trouble::damage}))
      return std::nullopt;
    if (r.what == growth_trouble::dies)
      job.kill(r.node);
    else if (r.what == growth_trouble::throws)
      job.throw_in(r.node);
    else if (r.what == growth_trouble::hangs)
      job.hang(r.node);
  }
  auto result = job.wait(std::chrono::hours{48});
  if (!result) {
    wrong.push_back("there is no end");
    return expected<train_result>{fail(errc::deadline_exceeded, "there is no end")};
  }
  if (const auto left = job.left(); !left.empty())
    wrong.push_back("left behind: " + left.front());
  if (!disturbed && !steps_of(job.events(), job_event::kind::recovering).empty())
    wrong.push_back("it recovered, and nothing had failed");
  for (const auto& e : job.events())
    if (e.what == job_event::kind::warning && e.text.find(forgotten_text) != std::string::npos)
      wrong.push_back(e.text);
  return result;
}

void draw_node(dice& d, growth_recipe& r) {
  const auto nodes = kind_of(r).nodes;
  r.node = nodes[static_cast<size_t>(d.between(0, std::ssize(nodes) - 1))];
  if (r.what == growth_trouble::hangs && r.node == "chief")
    r.node = "agent";  // No actor waits for the chief, so a chief that hangs is never found.
}

}  // namespace

growth_recipe draw_growth(uint64_t seed) {
  dice d{seed};
  growth_recipe r{.seed = seed};
  using enum growth_trouble;
  r.what = d.of({process, process, dies, dies, throws, hangs, disk, outage, planner, damage, damage});
  r.replicas = d.in_percent(30) ? 2 : 1;
  r.reducers = r.replicas > 1 && dice{~seed}.in_percent(50);
  r.evaluates = d.in_percent(40);
  r.from = d.between(17, 21);
  // An evaluation that cannot read its checkpoint ends the job.
  r.evaluates = r.evaluates && r.what != outage;
  r.turns = r.what == disk || r.what == outage ? d.between(0, 120) : d.between(0, r.replicas * 700);
  r.damaged = d.between(1, 2);
  r.attempts = d.between(1, 3);
  draw_node(d, r);
  return r;
}

growth_recipe draw_search(uint64_t seed) {
  dice d{seed};
  growth_recipe r{.seed = seed, .searches = true};
  using enum growth_trouble;
  r.what = d.of({process, process, process, dies, dies, throws, hangs, disk, disk, outage, planner, damage, damage});
  r.replicas = d.in_percent(30) ? 2 : 1;
  r.reducers = r.replicas > 1 && dice{~seed}.in_percent(50);
  r.demands = d.in_percent(60) && r.what != outage;
  r.evaluates = d.in_percent(30) && r.what != outage;
  r.from = d.of({0, 8, 9, 10, 10, 10, 11, 19, 20, 20, 29, 30});
  if (r.what == damage)
    r.from = std::max<int64_t>(r.from, 11);  // Some commit stays whole.
  r.turns = r.what == disk || r.what == outage ? d.between(0, 150) : d.between(0, r.replicas * 900);
  r.damaged = d.between(1, 2);
  r.attempts = d.between(1, 3);
  draw_node(d, r);
  return r;
}

std::string to_text(const growth_recipe& r) {
  static constexpr std::array names{
      "the process is killed", "dies", "throws", "hangs", "the disk fails", "a file call fails", "the planner throws",
      "commits are damaged"};
  std::string text = (r.searches ? "search " : "growth ") + std::to_string(r.seed) + ": "
                     + names[static_cast<size_t>(r.what)];
  if (in(r.what, {growth_trouble::dies, growth_trouble::throws, growth_trouble::hangs}))
    text += " (" + r.node + ")";
  return text + " after " + std::to_string(r.turns) + " from state " + std::to_string(r.from) + ", replicas "
         + std::to_string(r.replicas) + (r.reducers ? " with reducers" : "") + (r.evaluates ? ", evaluates" : "")
         + (r.demands ? ", evaluates between iterations" : "") + ", attempts " + std::to_string(r.attempts)
         + (r.what == growth_trouble::damage ? ", commits " + std::to_string(r.damaged) : "");
}

void learn_undisturbed_growth(const growth_recipe& r) { undisturbed(r); }

std::vector<std::string> findings_of(const growth_recipe& r) {
  std::vector<std::string> wrong;
  const auto disk = memory_disk::make();
  for (int64_t process = 0;; ++process) {
    if (process == processes_max) {
      wrong.push_back("no end in " + std::to_string(processes_max) + " processes");
      break;
    }
    const auto result = run_once(r, disk, process, wrong);
    if (!wrong.empty())
      break;
    if (!result && r.what == growth_trouble::damage)
      damage_newest(*disk, r.damaged);
    if (!result)
      continue;
    if (*result) {
      if ((*result)->global_step != kind_of(r).last_step)
        wrong.push_back("it ended at step " + std::to_string((*result)->global_step));
      else if (!same_state(newest_checkpoint(disk).content, undisturbed(r)))
        wrong.push_back("it ended in other bits");
      break;
    }
    const auto why = to_text(result->error());
    const bool cured = r.what == growth_trouble::outage
                       || (r.what == growth_trouble::dies
                           && (r.node == "feed" || r.node == "infeed/0"
                               || (r.node.find("/replica/") != std::string::npos && !r.node.starts_with("chooser"))));
    if (process > 0 || cured)
      wrong.push_back("it failed: " + why);
    else if (r.what == growth_trouble::planner && why.find("a planner's trouble") == std::string::npos)
      wrong.push_back("the error does not name the planner's: " + why);
  }
  return wrong;
}

}  // namespace troupe::test::random_faults
