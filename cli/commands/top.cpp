// troupe top: shows a job that another process runs.
#include "cli/commands/commands.hpp"
#include "cli/terminal/output.hpp"

#include <troupe/job_status.hpp>

#include <fmt/format.h>

#include <thread>

namespace troupe::cli {

namespace {

constexpr const char* about = "Shows what a running job does, and what each of its actors does with its time.";
constexpr const char* usage = R"(
The job has to be started with --status, and writes its status once a second. On a terminal it is shown until the
job ends; elsewhere, and with --once or --json, one time.

Examples:
  troupe train --config my.toml --status &
  troupe top runs/my
  troupe top runs/my --json | jq .report.bound_by

Exit status:
  0    shown
  1    no job has kept a status there, or it cannot be read
  2    misuse: a flag or a value that cannot be
  130  ended by SIGINT, 143 by SIGTERM, 129 by SIGHUP
)";

struct invocation {
  std::string directory;
  bool once = false, json = false;
};

void add_arguments(command_arguments& known, invocation& r) {
  known.word("DIR", r.directory, "the model directory");
  known.flag("--once", r.once, "one time, also on a terminal");
  known.flag("--json", r.json, "one JSON object");
}

constexpr own_command<invocation> command{"top", about, usage, add_arguments};

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool has_ended(const job_status& s) {
  return s.progress.now == job_progress::phase::finished || s.progress.now == job_progress::phase::failed;
}

expected<job_status> status_in(const std::string& directory) {
  auto seen = read_status(directory);
  if (!seen && seen.error().category == errc::not_found)
    seen.error().notes.push_back("a job writes it there that is started with --status: troupe train ... --status");
  return seen;
}

/// Nothing was written for so long that the process has probably ended.
std::string silence_of(const job_status& s, double now) {
  constexpr double silence_max = 10;
  return has_ended(s) || now - s.written < silence_max
             ? std::string{}
             : fmt::format("no sign of the process for {:.0f} s: it was killed, or its machine is busy\n",
                           now - s.written);
}

std::string page_of(const invocation& r, const job_status& s) {
  const double now = wall_time();
  return fmt::format("{}: {}{}", r.directory, to_text(s, now), silence_of(s, now));
}

}  // namespace

command_description describe_top() { return command.description(); }

int top(const std::vector<std::string>& arguments, console_printer& console) {
  const auto r = command.read(arguments, console);
  if (!r)
    return r.error();
  if (r->directory.empty())
    return usage_failure(console, cli::misuse("top", "top takes a model directory").value());
  const bool again = !r->once && !r->json && output_is_terminal();
  for (int looks = 0;; ++looks) {
    const auto seen = status_in(r->directory);
    constexpr int looks_max = 10;  // For a job that is just being started.
    if (!seen && again && seen.error().category == errc::not_found && looks < looks_max) {
      std::this_thread::sleep_for(std::chrono::seconds{1});
      continue;
    }
    if (!seen)
      return failure(console, seen.error());
    if (r->json) {
      write_output(to_json(*seen) + "\n");
      return succeeded;
    }
    if (again)
      write_output("\x1b[H\x1b[2J");  // To the corner of a clear screen.
    write_text(page_of(*r, *seen));
    if (!again || has_ended(*seen))
      return succeeded;
    std::this_thread::sleep_for(std::chrono::seconds{1});
  }
}

}  // namespace troupe::cli
