// troupe serve: answers predictions of exported models over HTTP until a signal ends it.
#include "cli/commands/commands.hpp"
#include "cli/terminal/last_resort.hpp"
#include "cli/terminal/output.hpp"

#include <troupe/options/serve_fields.hpp>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace troupe::cli {

namespace {

constexpr const char* about = "Answers predictions of exported models over HTTP.";
constexpr const char* usage = R"(
DIR is an export, a directory of exports (runs/fashion/export/latest) or a model directory with such. The newest
export answers; one that is added takes over while requests are answered.

Answers, in the forms of TensorFlow Serving's REST interface:
  POST /v1/models/NAME[/versions/N]:predict   {"instances": [...]} by rows, {"inputs": {...}} by columns
  GET  /v1/models/NAME[/versions/N][/metadata]
  GET  /metrics, /healthz                     at --health-port, where that is given

Examples:
  troupe serve runs/fashion/export/latest
  troupe serve runs/fashion --name fashion --port 0 --threads 2
  curl -d '{"instances": [[0.1, 0.2]]}' http://127.0.0.1:8501/v1/models/fashion:predict

Exit status:
  1    an error: no export, or one that is damaged; the address is taken; the system refuses further connections
  2    misuse: a flag or a value that cannot be
  130  ended by SIGINT, 143 by SIGTERM, 129 by SIGHUP: what had begun was answered; a second signal ends at once
)";

struct invocation {
  std::string directory;
  serve_options options;
  bool json = false, quiet = false;
};

tl::unexpected<error> misuse(std::string message) { return cli::misuse("serve", std::move(message)); }

/// The flag for a field: "--batch-rows-max" for "batch_rows_max".
std::string flag_of(std::string_view field) {
  std::string flag = "--" + std::string{field};
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

/// The help of a field, with its default if it has one.
template <class T>
std::string help_of_field(const field_row& field, const T& standard) {
  const auto text = option_text(standard);
  return text == "none" ? std::string{field.about} : fmt::format("{} [{}]", field.about, text);
}

/// The flags' values as text, in the order of the fields; absent for flags that are not given.
using flag_values = std::deque<std::optional<std::string>>;

void add_arguments(command_arguments& known, invocation& r, flag_values& values) {
  known.word("DIR", r.directory, "an export, a directory of exports, or a model directory");
  each_field(defaults_of<serve_options>(), [&](const field_row& field, const auto& standard) {
    known.value(flag_of(field.name), "VALUE", values.emplace_back(), help_of_field(field, standard));
  });
  known.flag("--json", r.json, "every line of standard output is a JSON object with an \"event\"");
  known.flag("--quiet", r.quiet, "nothing but warnings and errors");
}

expected<void> read_options(const flag_values& values, serve_options& into) {
  expected<void> right;
  size_t i = 0;
  each_field(into, [&](const field_row& field, auto& value) {
    const auto& given = values[i++];
    if (!right || !given)
      return;
    const auto valid = values_of<std::decay_t<decltype(value)>>(field.range);
    if (!valid.accept(*given) || !parse_option(*given, value))
      right = misuse(fmt::format("{} must be {}, not '{}'", flag_of(field.name), to_text(valid), *given));
  });
  return right;
}

/// The addresses of the server, which are reported with the first version.
struct addresses {
  std::string models = {};
  std::string health = {};  ///< Empty: the same as `models`.
};

/// `,"name":"text"`, for text in any encoding. Kept out of a nlohmann object: its destructor ends the program if it
/// finds no memory.
std::string member(const char* name, const std::string& text) {
  return fmt::format(",\"{}\":{}", name,
                     nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void say(const invocation& r, const serve_event& e, const addresses& at = {}) {
  const bool warning = e.what == serve_event::kind::warning;
  if (warning)
    write_error("warning: " + e.text + "\n");
  if (r.json) {
    write_output(fmt::format("{{\"event\":\"{}\",\"version\":{}{}{}}}\n", warning ? "warning" : "serving", e.version,
                             warning ? member("message", e.text) : member("address", at.models),
                             at.health.empty() ? "" : member("health_address", at.health)));
  } else if (!r.quiet && !warning) {
    write_text(fmt::format("version {} answers{}{}\n", e.version, at.models.empty() ? "" : " on " + at.models,
                           at.health.empty() ? "" : ", health and metrics on " + at.health));
  }
}

/// Serves until the first signal, and returns it, or until the server fails.
expected<int> run(const invocation& r, signal_watch& signals) {
  return_large_blocks();
  std::mutex guard;
  std::condition_variable changed;
  bool ended = false;
  std::optional<error> failed;
  auto server = model_server::start(r.directory, r.options, [&, first = true](const serve_event& e) mutable {
    if (e.what == serve_event::kind::failed) {
      const std::lock_guard held{guard};
      failed = error{errc::unavailable, e.text};
      changed.notify_all();
    } else if (e.what == serve_event::kind::warning || !std::exchange(first, false)) {
      say(r, e);  // The first version is reported below, with the address.
    }
  });
  if (!server)
    return fail(server.error());
  // RFC 3986, section 3.2.2: brackets keep the colons of an IPv6 address apart from that before the port.
  const auto host = r.options.host.find(':') == std::string::npos ? r.options.host : "[" + r.options.host + "]";
  addresses at{fmt::format("http://{}:{}/v1/models/{}", host, server->port(), server->name())};
  if (r.options.health_port)
    at.health = fmt::format("http://{}:{}", host, server->health_port());
  say(r, {serve_event::kind::version, server->version(), {}}, at);
  signals.at_first([&] {
    const std::lock_guard held{guard};
    ended = true;
    changed.notify_all();
  });
  {
    std::unique_lock held{guard};
    changed.wait(held, [&] { return ended || failed; });
  }
  server->drain();
  signals.at_first({});
  if (!ended)
    return fail(std::move(*failed));
  return signals.first();
}

}  // namespace

command_description describe_serve() {
  invocation r;
  flag_values values;
  command_arguments known{"serve", about, usage};
  add_arguments(known, r, values);
  return known.description();
}

int serve(const std::vector<std::string>& arguments, console_printer& console, signal_watch& signals) {
  invocation r;
  flag_values values;
  command_arguments known{"serve", about, usage};
  add_arguments(known, r, values);
  if (const auto status = ended_by_arguments(known, arguments, console))
    return *status;
  if (r.directory.empty())
    return usage_failure(console, misuse("serve takes a directory with an export").value());
  if (const auto right = read_options(values, r.options); !right)
    return usage_failure(console, right.error());
  const auto signal = run(r, signals);
  if (!signal)
    return failure(console, signal.error(), misuse_if(signal.error().category == errc::invalid_argument));
  if (!r.quiet)
    console.stop("once what had begun was answered", signal_name(*signal));
  return 128 + *signal;
}

}  // namespace troupe::cli
