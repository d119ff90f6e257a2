// The layout of a job on hosts and cores, for people and programs.
#include "cluster/batch_table.hpp"
#include "inspection/json_parts.hpp"
#include "inspection/tables.hpp"

#include <troupe/deployment.hpp>

#include <algorithm>

namespace troupe {

namespace {

using json = description_json;
using mode_layout = deployment_description::mode_layout;

mode_layout layout_of(const topology& t, const input_request& r) {
  mode_layout layout{.mode = r.mode};
  const auto computed = sizes(t, r);
  if (!computed) {
    layout.refused = computed.error();
    return layout;
  }
  layout.batch = *r.batch;
  layout.input_rows = *computed->input_rows;
  layout.batches_per_step = computed->batches_per_step;
  for (const auto& d : deployments(t, r))
    layout.inputs.push_back({d.host, d.replicas});
  for (int64_t replica = 0; replica < t.replicas; ++replica) {
    const auto f = feed_of(t, r, replica);
    layout.feeds.push_back({f.input, f.batch, f.first_row, f.rows});
  }
  layout.warnings = warnings_of(t, r);
  return layout;
}

std::string sizes_text(const mode_layout& m) {
  const auto inputs = static_cast<int64_t>(m.inputs.size());
  return counted(m.batch, "row", "rows") + " a step; " + counted(inputs, "input reads ", "inputs, each reads ")
         + counted(m.batches_per_step, "batch", "batches") + " of " + counted(m.input_rows, "row", "rows")
         + "; a replica gets " + std::to_string(m.feeds.front().rows);
}

std::string rows_text(const deployment_description::feed& f) {
  return f.rows == 1 ? std::to_string(f.first_row)
                     : std::to_string(f.first_row) + " to " + std::to_string(f.first_row + f.rows - 1);
}

/// The rows of each replica, which `m.inputs` and `m.feeds` have.
std::string feeds_text(const deployment_description& r, const mode_layout& m) {
  std::vector<std::vector<std::string>> rows{{"host", "core", "replica", "input", "batch", "rows"}};
  for (const auto& c : r.cores) {
    const auto& f = m.feeds.at(static_cast<size_t>(c.replica));
    rows.push_back({std::to_string(c.host), std::to_string(c.ordinal), std::to_string(c.replica),
                    std::to_string(f.input), std::to_string(f.batch), rows_text(f)});
  }
  return table(rows, "  ", {0, 1, 2, 3, 4});
}

json to_object(const deployment_description& r, const mode_layout& m) {
  json j{{"mode", to_string(m.mode)}};
  if (m.refused) {
    j["refused"] = {{"category", to_string(m.refused->category)}, {"message", m.refused->message}};
    return j;
  }
  j["batch"] = m.batch;
  j["input_rows"] = m.input_rows;
  j["batches_per_step"] = m.batches_per_step;
  j["inputs"] = array_of(m.inputs, [](const auto& i) { return json{{"host", i.host}, {"replicas", i.replicas}}; });
  j["feeds"] = array_of(r.cores, [&m](const auto& c) {
    const auto& f = m.feeds.at(static_cast<size_t>(c.replica));
    return json{{"host", c.host},   {"core", c.ordinal},        {"replica", c.replica}, {"input", f.input},
                {"batch", f.batch}, {"first_row", f.first_row}, {"rows", f.rows}};
  });
  j["warnings"] = m.warnings;
  return j;
}

}  // namespace

expected<deployment_description> describe_deployment(const deployment_options& o) {
  const auto t = make_topology({.hosts = o.hosts, .cores_per_host = o.cores_per_host, .replicas = o.replicas});
  if (!t)
    return fail(t.error());
  deployment_description r{.hosts = t->hosts,
                           .cores_per_host = t->cores_per_host,
                           .replicas = t->replicas,
                           .input_mode = o.input_mode,
                           .cores = {},
                           .modes = {},
                           .warnings = t->warnings};
  for (int64_t host = 0; host < t->hosts; ++host)
    for (int64_t ordinal = 0; ordinal < t->cores_per_host; ++ordinal)
      r.cores.push_back({host, ordinal, replica_of(*t, host, ordinal)});
  for (const auto& [m, batch] : {std::pair{mode::train, o.train_batch}, std::pair{mode::evaluate, o.eval_batch},
                                 std::pair{mode::predict, o.predict_batch}})
    r.modes.push_back(layout_of(*t, {.mode = m, .input_mode = o.input_mode, .batch = batch}));
  if (r.modes[0].refused)
    return fail(*r.modes[0].refused);
  return r;
}

std::string to_text(const deployment_description& r) {
  std::string text = counted(r.replicas, "replica", "replicas") + " on " + counted(r.hosts, "host", "hosts") + " of "
                     + counted(r.cores_per_host, "core", "cores") + ", input mode "
                     + std::string{to_string(r.input_mode)} + "\n";
  const auto warn = [&text](const std::vector<std::string>& warnings) {
    for (const auto& w : warnings)
      text += "warning: " + w + "\n";
  };
  warn(r.warnings);
  for (const auto& m : r.modes) {
    const std::string name{to_string(m.mode)};
    text += m.refused ? "cannot " + m.refused->message + "\n" : name + ": " + sizes_text(m) + "\n";
    warn(m.warnings);
  }
  for (auto m = r.modes.begin(); m != r.modes.end(); ++m) {
    const auto is_like_m = [&](const mode_layout& other) { return !other.refused && other.feeds == m->feeds; };
    if (m->refused || std::any_of(r.modes.begin(), m, is_like_m))
      continue;
    std::vector<std::string_view> names;
    for (const auto& other : r.modes)
      if (is_like_m(other))
        names.push_back(to_string(other.mode));
    text += "each step of " + joined(names) + "\n" + feeds_text(r, *m);
  }
  return text;
}

std::string to_json(const deployment_description& r) {
  json j{{"kind", "deployment"},
         {"hosts", r.hosts},
         {"cores_per_host", r.cores_per_host},
         {"replicas", r.replicas},
         {"input_mode", to_string(r.input_mode)},
         {"warnings", r.warnings},
         {"modes", array_of(r.modes, [&r](const auto& m) { return to_object(r, m); })}};
  return dumped(j);
}

}  // namespace troupe
