// Writes reports as lines for people.
#include "inspection/tables.hpp"

#include <troupe/inspect.hpp>

#include <algorithm>
#include <cstdio>

namespace troupe {

namespace {

std::string fixed(double x, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, x);
  return text;
}

std::string crc_text(const std::optional<uint32_t>& crc) {
  char text[9] = "";
  if (crc)
    std::snprintf(text, sizeof text, "%08x", *crc);
  return text;
}

std::string soundness(const std::vector<damage>& damages, bool verified) {
  if (!damages.empty())
    return state_text(damages);
  return verified ? "whole (every byte read)" : "whole (sizes and headers; --verify reads every byte)";
}

std::string standing(const checkpoint_entry& c) {
  if (c.foreign)
    return c.listed ? "listed, TensorFlow's" : "TensorFlow's";
  if (c.unfinished)
    return "unfinished";
  std::string text = c.listed ? "listed" : c.preserved ? "preserved" : "not listed";
  if (c.listed && c.preserved)
    text += ", preserved";
  return text + (c.best ? ", the best" : "");
}

/// Joins the lines of a position: "troupe input 2 · next 390 · ...".
std::string on_one_line(std::string text) {
  while (text.ends_with('\n'))
    text.pop_back();
  std::string line;
  for (const char c : text)
    line += c == '\n' ? std::string{" · "} : std::string(1, c);
  return line;
}

std::string exact_metrics(const std::map<std::string, double>& metrics) {
  return joined(metrics, ", ",
                [](const auto& metric) { return printable(metric.first) + " " + number_text(metric.second); });
}

std::string shortened(const std::string& text) {
  constexpr size_t shown = 60;
  return printable(text.substr(0, shown)) + (text.size() > shown ? "..." : "");
}

std::string kind_text(const tag_description& t) {
  if (!t.other)
    return std::string{to_string(t.last->what)};
  return std::string{to_string(t.other->as)} + (t.other->plugin.empty() ? "" : " (" + printable(t.other->plugin) + ")");
}

std::string last_text(const event_value& v) {
  switch (v.as) {
    case event_value::form::texts: return to_text(v.dims) + (v.texts.empty() ? "" : " " + shortened(v.texts.front()));
    case event_value::form::tensor: return type_text(v.numbers.type(), v.numbers.dims());
    case event_value::form::opaque: break;
  }
  return shortened(v.text);
}

std::string last_text(const summary_value& v) {
  switch (v.what) {
    case summary_value::kind::scalar: return number_text(v.scalar);
    case summary_value::kind::histogram:
      return number_text(v.histogram.count) + " values in [" + number_text(v.histogram.least) + ", "
             + number_text(v.histogram.greatest) + "]";
    case summary_value::kind::image: return to_text(v.image.dims());
    case summary_value::kind::text: return shortened(v.text);
  }
  return "";
}

/// "troupe 0.1.0, numerics 2": the program comes first.
std::string versions_text(const std::map<std::string, std::string>& versions) {
  const auto program = versions.find("troupe");
  std::string text = program == versions.end() ? "a program" : "troupe " + printable(program->second);
  for (const auto& [name, version] : versions)
    text += name == "troupe" ? "" : ", " + printable(name) + " " + printable(version);
  return text;
}

/// Leaves out the settings, which only the JSON has.
std::string to_text(const run_record& r) {
  std::string text = "run of " + time_text(r.wall_time) + " by " + versions_text(r.versions) + "\n";
  if (!r.command.empty())
    text += "  " + joined(r.command, " ", printable) + "\n";
  return text;
}

std::string members_text(const std::vector<ensemble_member>& members) {
  return joined(members, " + ", [](const ensemble_member& m) {
    return "t" + std::to_string(m.iteration) + "_" + printable(m.builder);
  });
}

}  // namespace

static std::string or_nothing(const std::optional<double>& x) { return x ? number_text(*x) : ""; }

/// The columns that all tables of candidates have.
static std::vector<std::string> row_of(const candidate_description& c) {
  return {printable(c.spec), or_nothing(c.score), or_nothing(c.loss), or_nothing(c.penalty), or_nothing(c.complexity)};
}
static std::vector<std::vector<std::string>> heading(std::initializer_list<const char*> more) {
  std::vector<std::string> row{"candidate", "score", "loss", "penalty", "complexity"};
  row.insert(row.end(), more.begin(), more.end());
  return {std::move(row)};
}

/// "t0_linear (0.31) + t1_dnn (0.7)", with the weights in parentheses.
static std::string weighted_members_text(const candidate_description& c) {
  std::string text;
  for (size_t i = 0; i < c.members.size(); ++i)
    text += (i > 0 ? " + " : "") + members_text({c.members[i]})
            + (i < c.weights.size() ? " (" + number_text(c.weights[i]) + ")" : "");
  return text;
}

static std::string to_text(const finished_iteration& i) {
  std::string text = "  iteration " + std::to_string(i.winner.iteration) + ", up to global step "
                     + std::to_string(i.winner.global_step) + ": " + printable(i.spec) + " won ("
                     + members_text(i.winner.members) + "): " + printable(i.why) + "\n";
  auto rows = heading({""});
  for (const auto& c : i.candidates) {
    rows.push_back(row_of(c));
    rows.back().push_back(printable(c.lost));
  }
  return text + table(rows, "    ", {1, 2, 3, 4});
}

std::string to_text(const search_description& r) {
  std::string text = "search: iteration " + std::to_string(r.iteration) + " is open at global step "
                     + std::to_string(r.global_step) + "\n";
  for (const auto& i : r.finished)
    text += to_text(i);
  if (r.candidates.empty())
    return text;
  text += "  iteration " + std::to_string(r.iteration) + "\n";
  std::vector<std::vector<std::string>> subnetworks{{"subnetwork", "steps", ""}};
  for (const auto& s : r.subnetworks)
    subnetworks.push_back({printable(s.spec), std::to_string(s.steps), printable(s.stop)});
  auto candidates = heading({"members (weights)", ""});
  for (const auto& c : r.candidates) {
    candidates.push_back(row_of(c));
    candidates.back().push_back(weighted_members_text(c));
    candidates.back().push_back(printable(c.stop));
  }
  return text + table(subnetworks, "    ", {1}) + table(candidates, "    ", {1, 2, 3, 4});
}

std::string to_text(const checkpoint_description& r) {
  std::string text = printable(r.path) + (r.id ? ": step " + to_string(*r.id) : "") + "\n";
  if (r.wall_time > 0)
    text += "  saved " + time_text(r.wall_time) + "\n";
  text += "  " + bytes_text(r.bytes) + " in " + counted(std::ssize(r.files), "file") + ", "
          + soundness(r.damages, r.verified) + "\n";
  text += damages_text(r.damages, "  ");
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : r.properties)
    rows.push_back({printable(name), printable(value)});
  text += (rows.empty() ? "" : "properties\n") + table(rows, "  ");
  rows.clear();
  for (const auto& b : r.blobs)
    rows.push_back({printable(b.name), b.text.empty() ? bytes_text(b.bytes) : printable(on_one_line(b.text))});
  text += (rows.empty() ? "" : "inputs and books\n") + table(rows, "  ");
  rows.clear();
  for (const auto& t : r.tensors)
    rows.push_back({printable(t.name), t.dtype, shape_text(t.shape), std::to_string(t.bytes) + " bytes",
                    crc_text(t.crc32c), t.file, "@" + std::to_string(t.offset)});
  return text + counted(std::ssize(r.tensors), "tensor") + "\n" + table(rows, "  ", {3});
}

std::string to_text(const directory_description& r) {
  std::string text = printable(r.path) + ": " + bytes_text(r.bytes) + (r.owner ? ", in use by " + *r.owner : "") + "\n";
  for (const auto& w : r.warnings)
    text += "  warning: " + printable(w) + "\n";
  const auto in_state = [&](const std::string& state) {
    return std::count_if(r.checkpoints.begin(), r.checkpoints.end(),
                         [&](const auto& c) { return state_text(c.damages) == state; });
  };
  const auto damaged = in_state("damaged"), unreadable = in_state("not readable");
  text += counted(std::ssize(r.checkpoints), "checkpoint")
          + (damaged > 0 ? ", " + std::to_string(damaged) + " damaged" : "")
          + (unreadable > 0 ? ", " + std::to_string(unreadable) + " not readable" : "")
          + (r.newest ? ", the newest of step " + to_string(*r.newest) : "")
          + (r.verified && damaged == 0 && unreadable == 0 && !r.checkpoints.empty() ? ", all whole (every byte read)"
                                                                                     : "")
          + "\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& c : r.checkpoints) {
    rows.push_back(
        {"step", to_string(c.id), time_text(c.wall_time), bytes_text(c.bytes), standing(c), state_text(c.damages)});
  }
  text += table(rows, "  ", {1, 3});
  for (const auto& c : r.checkpoints)
    text += damages_text(c.damages, "  ");
  if (r.record)
    text += to_text(*r.record);
  if (r.search)
    text += to_text(*r.search);
  for (const auto& [name, metrics] : r.evaluations)
    text += printable(name) + ": " + exact_metrics(metrics) + "\n";
  if (!r.exports.empty())
    text += counted(std::ssize(r.exports), "export") + "\n";
  for (const auto& e : r.exports)
    text += "  " + printable(e) + "\n";
  if (!r.event_files.empty())
    text += counted(std::ssize(r.event_files), "event file") + "\n";
  for (const auto& f : r.event_files)
    text += "  " + printable(f) + "\n";
  return text;
}

std::string to_text(const event_file_description& r) {
  std::string text = printable(r.path) + ": " + counted(r.events, "event") + ", " + bytes_text(r.bytes)
                     + (r.file_version.empty() ? "" : ", " + printable(r.file_version)) + "\n";
  if (r.events > 0)
    text += "  from " + time_text(r.first_wall_time) + " to " + time_text(r.last_wall_time) + "\n";
  if (r.truncated)
    text += "  the record at offset " + std::to_string(r.bytes_read)
            + " is not whole: its writer is at it still, or died there\n";
  text += damages_text(r.damages, "  ");
  std::vector<std::vector<std::string>> rows;
  for (const auto& s : r.sessions)
    rows.push_back({s.what, "step " + std::to_string(s.step), time_text(s.wall_time), printable(s.checkpoint),
                    printable(s.message)});
  text += (rows.empty() ? "" : counted(std::ssize(rows), "session note") + "\n") + table(rows, "  ");
  rows.clear();
  for (const auto& a : r.attachments)
    rows.push_back({a.what, "step " + std::to_string(a.step), bytes_text(a.bytes),
                    a.nodes > 0 ? counted(a.nodes, "node") : "", shortened(a.name)});
  text += (rows.empty() ? "" : counted(std::ssize(rows), "attachment") + "\n") + table(rows, "  ", {2});
  rows.clear();
  for (const auto& t : r.tags)
    rows.push_back({printable(t.tag), kind_text(t), std::to_string(t.count),
                    "steps " + std::to_string(t.first_step) + " to " + std::to_string(t.last_step),
                    t.other ? last_text(*t.other) : last_text(*t.last)});
  return text + counted(std::ssize(r.tags), "tag") + "\n" + table(rows, "  ", {2});
}

std::string to_text(const plan_description& r) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& n : r.nodes)
    rows.push_back(
        {n.name, n.role == n.name.substr(0, n.role.size()) && n.work.empty() ? "" : n.role, printable(n.work)});
  std::string text = counted(std::ssize(r.nodes), "node") + "\n" + table(rows, "  ");
  rows.clear();
  for (const auto& e : r.edges)
    rows.push_back({e.from + " => " + e.to, e.divide, std::to_string(e.credit_blocks) + " blocks"});
  text += counted(std::ssize(r.edges), "edge") + "\n" + table(rows, "  ");
  if (r.snapshot_parts.empty())
    return text + "no checkpoints\n";
  return text + "a checkpoint is put together from\n  " + joined(r.snapshot_parts, ", ", printable) + "\n";
}

std::string to_text(const graph_description& r) {
  std::string text = printable(r.model) + " (" + std::string{to_string(r.mode)}
                     + "): " + counted(std::ssize(r.nodes), "operation") + ", " + counted(r.parameters, "parameter")
                     + " in " + counted(std::ssize(r.variables), "variable") + ", "
                     + std::to_string(r.trainable_parameters) + " trainable\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& v : r.variables)
    rows.push_back({printable(v.name), v.dtype, shape_text(v.shape), std::to_string(v.elements),
                    v.trainable ? "" : "not trainable"});
  text += "variables\n" + table(rows, "  ", {3});
  rows.clear();
  for (const auto& n : r.nodes)
    rows.push_back({printable(n.name), n.dtype + " " + n.shape,
                    n.op + (n.inputs.empty() ? "" : "(" + joined(n.inputs, ", ", printable) + ")")});
  return text + "operations\n" + table(rows, "  ");
}

std::string to_text(const step_profile& r) {
  constexpr size_t kernels_shown = 20;
  std::string text = printable(r.model) + " (" + std::string{to_string(r.mode)} + "): " + fixed(1e6 * r.seconds, 1)
                     + " us a step of " + counted(r.rows, "row") + ", the mean of " + std::to_string(r.steps) + "\n";
  const auto times = [&r](double seconds, int64_t flops) {
    return std::vector<std::string>{
        fixed(1e6 * seconds, 1), fixed(r.seconds > 0 ? 100 * seconds / r.seconds : 0, 1) + " %",
        flops > 0 && seconds > 0 ? fixed(1e-9 * static_cast<double>(flops) / seconds, 1) : ""};
  };
  std::vector<std::vector<std::string>> rows{{"us", "share", "GFLOP/s", "calls", "operation"}};
  for (const auto& o : r.operations) {
    rows.push_back(times(o.seconds, o.flops));
    rows.back().insert(rows.back().end(), {std::to_string(o.calls), printable(o.title)});
  }
  text += table(rows, "  ", {0, 1, 2, 3});
  rows = {{"us", "share", "GFLOP/s", "kernel"}};
  for (const auto& k : r.kernels)
    if (rows.size() <= kernels_shown) {
      rows.push_back(times(k.seconds, k.flops));
      rows.back().insert(rows.back().end(), {printable(k.title), printable(k.name)});
    }
  text += (r.kernels.size() > kernels_shown ? "the longest " + std::to_string(kernels_shown) + " of " : "")
          + counted(std::ssize(r.kernels), "kernel") + "\n";
  return text + table(rows, "  ", {0, 1, 2});
}

std::string to_text(const inspection& r) {
  return std::visit([](const auto& description) { return to_text(description); }, r);
}

}  // namespace troupe
