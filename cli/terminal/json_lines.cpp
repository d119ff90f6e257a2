#include "cli/terminal/lines.hpp"

#include <nlohmann/json.hpp>

namespace troupe::cli {

namespace {

using object = nlohmann::ordered_json;  // Keeps "event" first, for human readers.

object metrics_object(const std::map<std::string, double>& metrics) {
  object found = object::object();
  for (const auto& [name, value] : metrics)
    if (name != "global_step")
      found[name] = value;
  return found;
}

/// The elements from `first` on, as nested lists with one level for each axis from `axis` on.
object nested(const tensor& array, int axis, int64_t first) {
  if (axis == array.dims().rank())
    return array.as<double>()[static_cast<size_t>(first)];
  int64_t each = 1;
  for (int inner = axis + 1; inner < array.dims().rank(); ++inner)
    each *= array.dims()[inner];
  object list = object::array();
  for (int64_t i = 0; i < array.dims()[axis]; ++i)
    list.push_back(nested(array, axis + 1, first + i * each));
  return list;
}

/// Adds "arrays" if there are any.
void add_arrays(object& to, const std::map<std::string, tensor>& arrays) {
  for (const auto& [name, array] : arrays)
    to["arrays"][name] = nested(array, 0, 0);
}

/// Repairs invalid UTF-8: messages may quote bytes of a damaged file.
std::string line(const object& o) { return o.dump(-1, ' ', false, object::error_handler_t::replace); }

/// "search": the iteration, the winner with its members, and the indices that repeat the choices.
object search_object(const search_result& search) {
  object members = object::array();
  for (const auto& m : search.winner.members)
    members.push_back({{"iteration", m.iteration}, {"builder", m.builder}});
  return {{"iteration", search.iteration},
          {"winner",
           {{"name", search.spec},
            {"candidate", search.winner.candidate},
            {"ensembler", search.winner.ensembler},
            {"iteration", search.winner.iteration},
            {"global_step", search.winner.global_step},
            {"members", members}}},
          {"replay_indices", search.replay_indices}};
}

object result_object(const char* event, const train_result& result) {
  object o{{"event", event},
           {"global_step", result.global_step},
           {"metrics", metrics_object(result.metrics)},
           {"seconds", result.seconds},
           {"steps_run", result.steps_run}};
  add_arrays(o, result.arrays);
  if (!result.checkpoint.empty())
    o["checkpoint"] = result.checkpoint;
  if (!result.remark.empty())
    o["remark"] = result.remark;
  if (result.search)
    o["search"] = search_object(*result.search);
  return o;
}

}  // namespace

std::string event_json(const job_event& event) {
  object o{{"event", std::string{to_string(event.what)}}, {"global_step", event.step}};
  if (event.max_steps)
    o["max_steps"] = *event.max_steps;
  switch (event.what) {
    case job_event::kind::started: o["message"] = event.text; break;
    case job_event::kind::progress:
      o["loss"] = event.loss;
      o["steps_per_second"] = event.steps_per_second;
      if (!event.metrics.empty())
        o["metrics"] = metrics_object(event.metrics);
      add_arrays(o, event.arrays);
      break;
    case job_event::kind::saved: o["checkpoint"] = event.text; break;
    case job_event::kind::evaluated:
      if (!event.evaluation.empty())
        o["evaluation"] = event.evaluation;
      o["metrics"] = metrics_object(event.metrics);
      add_arrays(o, event.arrays);
      break;
    case job_event::kind::chosen:
      o["message"] = event.text;
      o["scores"] = metrics_object(event.metrics);
      break;
    case job_event::kind::recovering:
      o["message"] = event.text;
      o["attempt"] = event.attempt;
      if (event.failure)
        o["category"] = std::string{to_string(event.failure->category)};
      break;
    case job_event::kind::recovered:
      o["checkpoint"] = event.text;
      o["attempt"] = event.attempt;
      break;
    default: o["message"] = event.text;
  }
  if (event.checkpoint && event.checkpoint->iteration > 0)
    o["iteration"] = event.checkpoint->iteration;
  o["seconds"] = event.seconds;
  return line(o);
}

std::string changed_json(const std::vector<setting_difference>& differences) {
  object o{{"event", "changed"}, {"settings", object::array()}};
  const auto or_null = [](const std::optional<std::string>& text) { return text ? object(*text) : object(nullptr); };
  for (const auto& d : differences)
    o["settings"].push_back({{"key", d.key}, {"before", or_null(d.before)}, {"now", or_null(d.now)}});
  return line(o);
}

std::string finished_json(const train_result& result) { return line(result_object("finished", result)); }

std::string finished_json(const evaluation_result& result) {
  object o{{"event", "finished"},
           {"global_step", result.global_step},
           {"metrics", metrics_object(result.metrics)},
           {"seconds", result.seconds},
           {"batches", result.batches}};
  add_arrays(o, result.arrays);
  if (!result.checkpoint.empty())
    o["checkpoint"] = result.checkpoint;
  return line(o);
}

std::string stopped_json(const train_result& result, std::string_view signal) {
  auto o = result_object("stopped", result);
  o["signal"] = std::string{signal};
  return line(o);
}

std::string stopped_json(std::string_view doing, std::string_view signal) {
  return line({{"event", "stopped"}, {"message", stopped_text(doing, signal)}, {"signal", std::string{signal}}});
}

std::string warning_json(std::string_view text, int64_t step) {
  return line({{"event", "warning"}, {"global_step", step}, {"message", std::string{text}}});
}

std::string failed_json(const error& e) {
  object o{{"event", "failed"},
           {"category", std::string{to_string(e.category)}},
           {"message", e.message},
           {"notes", e.notes}};
  if (!e.source.empty())
    o["source"] = e.source;
  if (e.step)
    o["global_step"] = *e.step;
  return line(o);
}

}  // namespace troupe::cli
