// troupe checkpoints: lists, verifies and deletes the checkpoints of a model directory.
#include "cli/commands/commands.hpp"
#include "cli/configuration/nearest.hpp"
#include "cli/terminal/output.hpp"

#include <troupe/delete_checkpoints.hpp>
#include <troupe/inspect.hpp>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace troupe::cli {

namespace {

constexpr const char* about = "Lists, verifies and deletes the checkpoints of a model directory.";
constexpr const char* usage = R"(
  list      step, time, size; whether a job goes on from it, and whether it is whole by its sizes and headers
  verify    the same, with every byte read and every checksum compared
  delete    takes the steps from the list, then deletes their files

Examples:
  troupe checkpoints list runs/fashion
  troupe checkpoints verify runs/fashion 390
  troupe checkpoints delete runs/fashion 100 200

A search for an architecture commits several checkpoints at one step: STEP is what the list shows, 390 or
390-iteration-2.

While a job is using the directory nothing can be deleted. What somebody else is reading meanwhile is taken from
the list and stays; delete it again later. A deleted checkpoint cannot be brought back.

Exit status:
  0    done, and all is whole
  1    something is damaged, or an error
  2    misuse: a flag or a value that cannot be
  130  ended by SIGINT, 143 by SIGTERM, 129 by SIGHUP
)";

struct invocation {
  std::string action, directory;
  std::vector<std::string> steps;
  bool json = false, force = false;
};

void add_arguments(command_arguments& known, invocation& r) {
  known.word("ACTION", r.action, "list, verify or delete", {"list", "verify", "delete"});
  known.word("DIR", r.directory, "the model directory");
  known.words("STEP", r.steps, "which ones; all, where there is none to list or verify");
  known.flag("--force", r.force,
             "delete the newest too, so that a job goes on from an older one or begins anew, and the best");
  known.flag("--json", r.json, "one JSON object");
}

tl::unexpected<error> misuse(std::string message) { return cli::misuse("checkpoints", std::move(message)); }

expected<std::vector<checkpoint_id>> parse_ids(const std::vector<std::string>& texts) {
  std::vector<checkpoint_id> ids;
  for (const auto& text : texts) {
    const auto id = parse_checkpoint_id(text);
    if (!id)
      return misuse(fmt::format(
          "a step is a whole number of at least 0, or one with its iteration as in 390-iteration-2, not '{}'", text));
    ids.push_back(*id);
  }
  return ids;
}

expected<void> check(const invocation& r) {
  const std::vector<std::string> actions{"list", "verify", "delete"};
  if (r.action.empty())
    return misuse("checkpoints takes list, verify or delete");
  if (std::find(actions.begin(), actions.end(), r.action) == actions.end())
    return misuse(fmt::format("checkpoints takes list, verify or delete, not {}{}", r.action,
                              did_you_mean(nearest(r.action, actions))));
  if (r.directory.empty())
    return misuse(fmt::format("checkpoints {} takes a model directory", r.action));
  if (r.action == "delete" && r.steps.empty())
    return misuse("checkpoints delete takes the steps to delete");
  if (r.action != "delete" && r.force)
    return misuse("--force is about delete");
  return {};
}

int show(const invocation& r, const std::vector<checkpoint_id>& ids, console_printer& console) {
  auto found = inspect_directory(r.directory, {.verify = r.action == "verify"});
  if (!found)
    return failure(console, found.error());
  auto& all = found->checkpoints;
  for (const auto id : ids)
    if (std::none_of(all.begin(), all.end(), [&](const auto& c) { return c.id == id; }))
      return failure(console,
                     {errc::not_found, fmt::format("{} has no checkpoint of step {}", r.directory, to_string(id))});
  if (!ids.empty())
    std::erase_if(all, [&](const auto& c) { return std::find(ids.begin(), ids.end(), c.id) == ids.end(); });
  found->exports.clear();
  found->event_files.clear();
  found->evaluations.clear();
  found->record.reset();
  r.json ? write_output(to_json(*found)) : write_text(to_text(*found));
  return is_sound(*found) ? succeeded : failed;
}

/// Checkpoint ids as JSON: the step as a number, or in a search the id as text.
nlohmann::ordered_json as_json(const std::vector<checkpoint_id>& ids) {
  auto all = nlohmann::ordered_json::array();
  for (const auto id : ids)
    all.push_back(id.iteration > 0 ? nlohmann::ordered_json(to_string(id)) : nlohmann::ordered_json(id.step));
  return all;
}

int remove(const invocation& r, const std::vector<checkpoint_id>& ids, console_printer& console) {
  const auto there = inspect_directory(r.directory);
  const auto is_one = [&](const checkpoint_entry& c) { return std::find(ids.begin(), ids.end(), c.id) != ids.end(); };
  const bool are_there = there && std::all_of(ids.begin(), ids.end(), [&](checkpoint_id id) {
                           return std::any_of(there->checkpoints.begin(), there->checkpoints.end(),
                                              [id](const auto& c) { return c.id == id; });
                         });
  // What else may be in the way, such as a directory that may not be written, --force does not help against.
  const bool is_guarded = are_there
                          && std::any_of(there->checkpoints.begin(), there->checkpoints.end(),
                                         [&](const auto& c) { return is_one(c) && (c.best || c.id == there->newest); });
  auto done = delete_checkpoints(r.directory, ids, {.newest_too = r.force});
  if (!done && !r.force && is_guarded && !there->owner && done.error().category == errc::failed_precondition)
    done.error().notes.push_back("--force deletes it all the same");
  if (!done)
    return failure(console, done.error());
  if (r.json) {
    write_output(nlohmann::ordered_json{{"deleted", as_json(done->deleted)}, {"held", as_json(done->held)}}.dump()
                 + "\n");
  } else {
    for (const auto id : done->deleted)
      write_output(fmt::format("deleted step {}\n", to_string(id)));
    for (const auto id : done->held)
      write_output(
          fmt::format("step {} is being read: it is no longer listed, and its files are still there\n", to_string(id)));
  }
  return done->held.empty() ? succeeded : failed;
}

constexpr own_command<invocation> command{"checkpoints", about, usage, add_arguments};

}  // namespace

command_description describe_checkpoints() { return command.description(); }

int checkpoints(const std::vector<std::string>& arguments, console_printer& console) {
  const auto r = command.read(arguments, console);
  if (!r)
    return r.error();
  if (const auto sound = check(*r); !sound)
    return usage_failure(console, sound.error());
  const auto ids = parse_ids(r->steps);
  if (!ids)
    return usage_failure(console, ids.error());
  return r->action == "delete" ? remove(*r, *ids, console) : show(*r, *ids, console);
}

}  // namespace troupe::cli
