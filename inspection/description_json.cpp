// Writes reports as JSON objects.
#include "inspection/json_parts.hpp"
#include "storage/encodings/base64.hpp"
#include "storage/encodings/crc32c.hpp"

#include <troupe/inspect.hpp>

namespace troupe {

namespace {

using json = description_json;

json to_object(const damage& d) {
  return {{"file", d.file},
          {"tensor", d.tensor.empty() ? json(nullptr) : json(d.tensor)},
          {"offset", or_null(d.offset)},
          {"reason", d.reason},
          {"unreadable", d.unreadable}};
}

/// Writes the iteration only if it is not 0, as in manifests: programs that do not know of a search read the step
/// alone.
void add_iteration(json& j, std::string_view name, checkpoint_id id) {
  if (id.iteration > 0)
    j[name] = id.iteration;
}

json to_object(const ensemble_member& m) { return {{"iteration", m.iteration}, {"builder", m.builder}}; }

json to_array(const std::vector<damage>& damages) {
  return array_of(damages, [](const damage& d) { return to_object(d); });
}

json to_object(const tensor_description& t) {
  json j{{"name", t.name},
         {"dtype", t.dtype},
         {"shape", t.shape},
         {"bytes", t.bytes},
         {"crc32c", t.crc32c ? json(crc32c_text(*t.crc32c)) : json(nullptr)},
         {"file", t.file},
         {"offset", t.offset}};
  if (t.value)
    j["base64"] = to_base64(*t.value);
  return j;
}

json to_object(const histogram& h) {
  return {{"count", h.count},
          {"least", h.least},
          {"greatest", h.greatest},
          {"sum", h.sum},
          {"sum_of_squares", h.sum_of_squares}};
}

json last_of(const event_value& v) {
  switch (v.as) {
    case event_value::form::texts: return {{"shape", v.dims.extents()}, {"texts", v.texts}};
    case event_value::form::tensor:
      return {{"dtype", to_string(v.numbers.type())}, {"shape", v.numbers.dims().extents()}};
    case event_value::form::opaque: break;
  }
  return v.text;
}

json to_object(const tag_description& t) {
  json j{{"tag", t.tag},
         {"kind", t.other ? to_string(t.other->as) : to_string(t.last->what)},
         {"count", t.count},
         {"first_step", t.first_step},
         {"last_step", t.last_step}};
  if (t.other) {
    j["last"] = last_of(*t.other);
    j["plugin"] = t.other->plugin;
    return j;
  }
  switch (t.last->what) {
    case summary_value::kind::scalar: j["last"] = t.last->scalar; break;
    case summary_value::kind::histogram: j["last"] = to_object(t.last->histogram); break;
    case summary_value::kind::image: j["last"] = {{"shape", t.last->image.dims().extents()}}; break;
    case summary_value::kind::text: j["last"] = t.last->text; break;
  }
  return j;
}

json to_object(const program_description& r) {
  json j{{"rows", r.rows},
         {"arena_bytes", r.arena_bytes},
         {"live_bytes_max", r.live_bytes_max},
         {"flops", r.flops},
         {"threads", r.threads}};
  const auto to_buffer = [](const auto& b) {
    return json{{"name", b.name}, {"dtype", b.dtype}, {"shape", b.shape}, {"where", b.where}, {"bytes", b.bytes}};
  };
  j["kernels"] = array_of(r.kernels, [&](const auto& k) {
    return json{{"title", k.title},
                {"reads", array_of(k.reads, to_buffer)},
                {"writes", array_of(k.writes, to_buffer)},
                {"scratch_bytes", k.scratch_bytes},
                {"flops", k.flops},
                {"for_summaries", k.for_summaries}};
  });
  return j;
}

/// Repairs names that are not UTF-8; only names from file systems can be.

}  // namespace

std::string to_json(const checkpoint_description& r) {
  json j{{"kind", "checkpoint"},
         {"path", r.path},
         {"step", r.id ? json(r.id->step) : json(nullptr)},
         {"wall_time", r.wall_time},
         {"bytes", r.bytes},
         {"whole", r.damages.empty()},
         {"verified", r.verified},
         {"damages", to_array(r.damages)},
         {"files", r.files}};
  add_iteration(j, "iteration", r.id.value_or(checkpoint_id{}));
  j["properties"] = json::object();
  for (const auto& [name, text] : r.properties)
    j["properties"][name] = text;
  j["blobs"] = array_of(r.blobs, [](const blob_description& b) {
    return json{
        {"name", b.name}, {"bytes", b.bytes}, {"text", b.text.empty() && b.bytes > 0 ? json(nullptr) : json(b.text)}};
  });
  j["tensors"] = array_of(r.tensors, [](const tensor_description& t) { return to_object(t); });
  return dumped(j);
}

static json to_object(const candidate_description& c) {
  json j{{"spec", c.spec},
         {"score", or_null(c.score)},
         {"loss", or_null(c.loss)},
         {"penalty", or_null(c.penalty)},
         {"complexity", or_null(c.complexity)}};
  if (!c.weights.empty())
    j["weights"] = c.weights;
  if (!c.members.empty())
    j["members"] = array_of(c.members, [](const ensemble_member& m) { return to_object(m); });
  if (!c.lost.empty())
    j["lost"] = c.lost;
  if (!c.stop.empty())
    j["stop"] = c.stop;
  return j;
}

static json to_object(const search_description& r) {
  const auto candidates_of = [](const auto& x) {
    return array_of(x.candidates, [](const candidate_description& c) { return to_object(c); });
  };
  json j{{"iteration", r.iteration}, {"global_step", r.global_step}};
  j["finished"] = array_of(r.finished, [&](const finished_iteration& i) {
    return json{{"iteration", i.winner.iteration},
                {"global_step", i.winner.global_step},
                {"winner", i.spec},
                {"why", i.why},
                {"members", array_of(i.winner.members, [](const ensemble_member& m) { return to_object(m); })},
                {"replay_indices", i.winner.replay_indices},
                {"candidates", candidates_of(i)}};
  });
  j["subnetworks"] = array_of(r.subnetworks, [](const subnetwork_description& s) {
    json one{{"spec", s.spec}, {"steps", s.steps}};
    if (!s.stop.empty())
      one["stop"] = s.stop;
    return one;
  });
  j["candidates"] = candidates_of(r);
  return j;
}

std::string to_json(const search_description& r) { return dumped(to_object(r)); }

std::string to_json(const directory_description& r) {
  json j{{"kind", "directory"},
         {"path", r.path},
         {"bytes", r.bytes},
         {"owner", or_null(r.owner)},
         {"newest", r.newest ? json(r.newest->step) : json(nullptr)},
         {"verified", r.verified},
         {"warnings", r.warnings}};
  add_iteration(j, "newest_iteration", r.newest.value_or(checkpoint_id{}));
  j["checkpoints"] = array_of(r.checkpoints, [](const checkpoint_entry& c) {
    json entry{{"step", c.id.step},
               {"wall_time", c.wall_time},
               {"bytes", c.bytes},
               {"listed", c.listed},
               {"best", c.best},
               {"preserved", c.preserved},
               {"unfinished", c.unfinished},
               {"whole", c.damages.empty()},
               {"damages", to_array(c.damages)}};
    add_iteration(entry, "iteration", c.id);
    if (c.foreign)
      entry["format"] = "tensorflow";
    return entry;
  });
  j["evaluations"] = json::object();
  for (const auto& [name, metrics] : r.evaluations) {
    j["evaluations"][name] = json::object();
    for (const auto& [metric, value] : metrics)
      j["evaluations"][name][metric] = value;
  }
  if (r.record)
    j["run"] = {{"wall_time", r.record->wall_time}, {"command", r.record->command},
                {"directory", r.record->directory}, {"versions", r.record->versions},
                {"settings", r.record->settings},   {"resolved", r.record->resolved}};
  if (r.search)
    j["search"] = to_object(*r.search);
  j["exports"] = r.exports;
  j["event_files"] = r.event_files;
  return dumped(j);
}

std::string to_json(const event_file_description& r) {
  json j{{"kind", "events"},
         {"path", r.path},
         {"file_version", r.file_version},
         {"events", r.events},
         {"bytes", r.bytes},
         {"bytes_read", r.bytes_read},
         {"first_wall_time", r.first_wall_time},
         {"last_wall_time", r.last_wall_time},
         {"truncated", r.truncated},
         {"whole", r.damages.empty()},
         {"damages", to_array(r.damages)}};
  j["sessions"] = array_of(r.sessions, [](const session_description& s) {
    return json{{"what", s.what},
                {"step", s.step},
                {"wall_time", s.wall_time},
                {"checkpoint", s.checkpoint},
                {"message", s.message}};
  });
  j["tags"] = array_of(r.tags, [](const tag_description& t) { return to_object(t); });
  j["attachments"] = array_of(r.attachments, [](const attachment_description& a) {
    json entry{{"what", a.what}, {"step", a.step}, {"wall_time", a.wall_time}, {"name", a.name}, {"bytes", a.bytes}};
    if (a.nodes > 0)
      entry["nodes"] = a.nodes;
    return entry;
  });
  return dumped(j);
}

std::string to_json(const plan_description& r) {
  json j{{"kind", "plan"}};
  j["nodes"] = array_of(r.nodes, [](const auto& n) {
    return json{{"name", n.name}, {"role", n.role}, {"work", n.work}};
  });
  j["edges"] = array_of(r.edges, [](const auto& e) {
    return json{{"from", e.from}, {"to", e.to}, {"divide", e.divide}, {"credit_blocks", e.credit_blocks}};
  });
  j["snapshot_parts"] = r.snapshot_parts;
  return dumped(j);
}

std::string to_json(const graph_description& r) {
  json j{{"kind", "graph"},
         {"model", r.model},
         {"mode", to_string(r.mode)},
         {"parameters", r.parameters},
         {"trainable_parameters", r.trainable_parameters}};
  j["variables"] = array_of(r.variables, [](const auto& v) {
    return json{
        {"name", v.name}, {"dtype", v.dtype}, {"shape", v.shape}, {"elements", v.elements}, {"trainable", v.trainable}};
  });
  j["nodes"] = array_of(r.nodes, [](const auto& n) {
    return json{{"name", n.name},   {"scope", n.scope}, {"op", n.op},
                {"dtype", n.dtype}, {"shape", n.shape}, {"inputs", n.inputs}};
  });
  j["program"] = to_object(r.program);
  return dumped(j);
}

std::string to_json(const step_profile& r) {
  json j{{"kind", "profile"}, {"model", r.model}, {"mode", to_string(r.mode)},
         {"rows", r.rows},    {"steps", r.steps}, {"seconds", r.seconds}};
  j["operations"] = array_of(r.operations, [](const auto& o) {
    return json{{"title", o.title}, {"calls", o.calls}, {"seconds", o.seconds}, {"flops", o.flops}};
  });
  j["kernels"] = array_of(r.kernels, [](const auto& k) {
    return json{{"title", k.title}, {"name", k.name}, {"seconds", k.seconds}, {"flops", k.flops}};
  });
  return dumped(j);
}

std::string to_json(const inspection& r) {
  return std::visit([](const auto& description) { return to_json(description); }, r);
}

}  // namespace troupe
