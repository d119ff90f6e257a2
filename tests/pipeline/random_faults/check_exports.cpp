#include "pipeline/random_faults/checks.hpp"
#include "pipeline/random_faults/described_job.hpp"

#include <algorithm>

namespace troupe::test::random_faults {

namespace {

/// Names an exported variable whose value is not that of the state; empty if there is none.
std::string difference(const export_content& made, const checkpoint_content& of) {
  size_t found = 0;
  for (const auto& t : of.tensors)
    if (const auto exported = made.tensors.find(t.name); exported != made.tensors.end()) {
      ++found;
      if (!(exported->second == t.value))
        return t.name + " differs";
    }
  return found > 0 ? "" : "it has no variable of the model";
}

void check_files(const recipe& r, const observation& o, std::vector<finding>& to) {
  const auto& reference = reference_of(r);
  for (const auto& x : o.exports) {
    if (!x.trouble.empty())
      to.push_back({"an export is there whole or not at all", x.trouble});
    else if (x.content.origin.global_step > reference.id.step && o.stood_at <= reference.id.step)
      to.push_back({"an export is of a state that the job comes to",
                    x.path + " is of step " + std::to_string(x.content.origin.global_step)});
    else if (x.content.origin.global_step == reference.id.step && !r.hook_scales_at)
      if (const auto what = difference(x.content, reference); !what.empty())
        to.push_back({"an export has the values of its state", x.path + ": " + what});
  }
}

/// The result of a job that ended well must name exports that exist, and no more exports may exist than are kept.
void check_result(const recipe& r, const observation& o, std::vector<finding>& to) {
  const auto& result = **o.result;
  const auto of = [&o](const std::string& name) {
    return std::count_if(o.exports.begin(), o.exports.end(),
                         [&name](const export_sight& x) { return x.exporter == name; });
  };
  for (const auto& [evaluation, paths] : result.exports)
    for (size_t i = 0; i < paths.size(); ++i) {
      if (paths[i].empty())
        continue;
      if (std::none_of(o.exports.begin(), o.exports.end(), [&](const export_sight& x) { return x.path == paths[i]; }))
        to.push_back({"the exports of the result are there", paths[i] + " is not"});
      const auto by = exporters_of(r)[i];
      if (by.rule != export_rule::final && of(by.name) > r.exports_kept)
        to.push_back(
            {"no more exports are there than are kept", "there are " + std::to_string(of(by.name)) + " of " + by.name});
    }
  const bool evaluates_the_end = !came(o, trouble_kind::signal)
                                 && !(r.groups && (r.groups->leaves(1) || r.groups->deaths_too));
  if (evaluates_the_end && !result.stopped && result.global_step == r.max_steps
      && (of("final") == 0 || of("latest") == 0 || of("best") == 0))
    to.push_back({"a job that comes to its goal has exported", std::to_string(of("latest")) + " after evaluations, "
                                                                   + std::to_string(of("best")) + " of the best, "
                                                                   + std::to_string(of("final")) + " of the end"});
}

}  // namespace

void check_exports(const story& s, std::vector<finding>& to) {
  if (s.of.exports_kept == 0)
    return;
  const auto look = [&](const observation& o) {
    check_files(s.of, o, to);
    if (o.result && *o.result)
      check_result(s.of, o, to);
  };
  for (const auto& o : s.disturbed)
    look(o);
  if (s.undisturbed)
    look(*s.undisturbed);
}

}  // namespace troupe::test::random_faults
