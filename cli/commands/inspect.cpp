// troupe inspect: shows the contents of a path, or the job that a configuration describes.
#include "cli/commands/commands.hpp"
#include "cli/configuration/job_setup.hpp"
#include "cli/configuration/joined.hpp"
#include "cli/configuration/nearest.hpp"
#include "cli/terminal/output.hpp"

#include <troupe/deployment.hpp>
#include <troupe/inspect.hpp>
#include <troupe/options/input_mode_names.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace troupe::cli {

namespace {

constexpr const char*
    about = "Shows what a job has left, or what it is made of. Writes nothing, and may look at a running job.";
constexpr const char* usage = R"(
What is shown of each PATH depends on what it is:
  a model directory                    its checkpoints, who is using it, the last evaluation; of a search who won
                                       each iteration, with the score of every candidate and why it lost
  an exported model                    what it takes and yields, where it came from, its weights
  DIR/model.ckpt-390, a manifest       the checkpoint: tensors, input position, properties
  FILE.safetensors                     the tensors of any such file, from anywhere
  an event file                        its tags, with counts, steps and last values
Of a --config, the plan of its job; with --graph a graph of its model, with --program what a replica computes,
with --profile the time that each operation of it takes, from a run of some steps that leaves nothing behind;
with --hosts, --cores, --input-mode or --batch which rows each core of such hosts would get.

Examples:
  troupe inspect runs/fashion
  troupe inspect runs/fashion/model.ckpt-390 --verify
  troupe inspect runs/fashion/model.ckpt-390 --json --values
  troupe inspect runs/fashion/events* runs/fashion/eval/events*
  troupe inspect --config examples/fashion_mnist.toml --graph train --dot | dot -Tsvg > graph.svg
  troupe inspect --config examples/fashion_mnist.toml --profile --steps 200
  troupe inspect --config examples/fashion_mnist.toml --hosts 8 --cores 8 --input-mode per_replica --batch 1024
  troupe inspect runs/search --dot | dot -Tsvg > search.svg

Exit status:
  0    shown, and nothing in it is damaged
  1    damaged (what can be read is shown), or an error
  2    misuse: a flag or a value that cannot be
  130  ended by SIGINT, 143 by SIGTERM, 129 by SIGHUP
)";

struct invocation {
  std::vector<std::string> paths;
  std::string config, graph;
  std::vector<std::string> set;
  std::optional<std::string> steps, hosts, cores, input_mode, batch;
  bool plan = false, program = false, profile = false, dot = false, json = false, verify = false, values = false;

  bool deployment() const { return hosts || cores || input_mode || batch; }
  mode graph_mode() const {
    return graph == "evaluate" ? mode::evaluate : graph == "predict" ? mode::predict : mode::train;
  }
};

tl::unexpected<error> misuse(std::string message) { return cli::misuse("inspect", std::move(message)); }

void add_arguments(command_arguments& known, invocation& r) {
  known.words("PATH", r.paths,
              "a model directory, an exported model, a checkpoint, a .safetensors file or an event file");
  known.value("--config", "FILE", r.config, "or a configuration in TOML");
  known.values("--set", "KEY=VALUE", r.set, "any key of the configuration, as often as you like");
  known.flag("--plan", r.plan,
             "the actors of its job and what passes between them (this is what is shown of a --config)");
  known.value("--graph", "train|evaluate|predict", r.graph, "the graph of its model");
  known.flag("--program", r.program,
             "what a replica computes in that mode: kernels in order, their buffers, bytes and FLOPs [train]");
  known.flag("--profile", r.profile, "the time that each of its operations takes in a real run [train]");
  known.value("--steps", "N", r.steps, "of how many steps [20]");
  known.value("--hosts", "N", r.hosts, "how its replicas would be fed on so many hosts [1]");
  known.value("--cores", "N", r.cores, "of so many cores each, with a replica on each [1]");
  known.value("--input-mode", "per_core|per_host|per_replica|broadcast|sliced", r.input_mode,
              "who reads the data there, and how rows reach the replicas [per_host]");
  known.value("--batch", "N", r.batch, "rows of a step, over all replicas [those of the configuration]");
  known.flag("--dot", r.dot, "the graph for Graphviz [train]; of a PATH the ensembles of a search");
  known.flag("--verify", r.verify, "read every byte of checkpoints and compare all checksums");
  known.flag("--values", r.values, "with --json: every tensor's bytes in base64");
  known.flag("--json", r.json, "a JSON object; of several PATHs a list of them");
}

/// The hosts, cores and batches that flags give. invalid_argument, naming the flag.
expected<deployment_options> deployment_of(const invocation& r) {
  deployment_options options;
  if (r.input_mode && !parse_option(*r.input_mode, options.input_mode)) {
    const auto known = values_of<input_mode>({}).choices;
    return misuse(fmt::format("--input-mode must be {}, not '{}'{}", joined(known, ", "), *r.input_mode,
                              did_you_mean(nearest(*r.input_mode, known))));
  }
  const auto hosts = parse_count("--hosts", r.hosts, 1), cores = parse_count("--cores", r.cores, 1),
             batch = parse_count("--batch", r.batch, 1);
  for (const auto* number : {&hosts, &cores, &batch})
    if (!*number)
      return misuse(number->error().message);
  options.hosts = hosts->value_or(options.hosts);
  options.cores_per_host = cores->value_or(options.cores_per_host);
  options.train_batch = options.eval_batch = options.predict_batch = *batch;
  return options;
}

expected<void> check(const invocation& r) {
  if (r.paths.empty() == r.config.empty())
    return misuse("inspect takes PATHs, or a --config");
  const bool of_config = r.plan || r.program || r.profile || r.steps || !r.graph.empty() || !r.set.empty();
  if (r.config.empty() && of_config)
    return misuse("--plan, --graph, --program, --profile, --steps and --set are about a --config");
  if (r.config.empty() && r.deployment())
    return misuse("--hosts, --cores, --input-mode and --batch are about a --config");
  if (r.deployment() && (r.plan || r.program || r.profile || r.dot || !r.graph.empty()))
    return misuse(
        "--hosts, --cores, --input-mode and --batch cannot be given together with --plan, --graph, --program, "
        "--profile or --dot");
  if (r.dot && r.paths.size() > 1)
    return misuse("--dot is about one PATH, the model directory of a search, or about a --config");
  if (!r.config.empty() && (r.verify || r.values))
    return misuse("--verify and --values are about a PATH");
  if (r.values && !r.json)
    return misuse("--values needs --json");
  if (!r.graph.empty() && r.graph != "train" && r.graph != "evaluate" && r.graph != "predict")
    return misuse(fmt::format("--graph must be train, evaluate or predict, not '{}'{}", r.graph,
                              did_you_mean(nearest(r.graph, {"train", "evaluate", "predict"}))));
  if (r.plan && (r.program || r.profile || r.dot || !r.graph.empty()))
    return misuse("--plan cannot be given together with --graph, --program, --profile or --dot");
  if (r.dot && (r.program || r.profile || r.json))
    return misuse("--dot cannot be given together with --program, --profile or --json");
  if (r.profile && r.program)
    return misuse("--profile cannot be given together with --program");
  if (r.steps && !r.profile)
    return misuse("--steps is about --profile");
  if (const auto steps = parse_count("--steps", r.steps, 1); !steps)
    return misuse(steps.error().message);
  if (const auto deployment = deployment_of(r); !deployment)
    return fail(deployment.error());
  return {};
}

/// Shows all paths, even if one fails. Returns the worst exit status.
int show_paths(const invocation& r, console_printer& console) {
  int status = succeeded;
  const bool list = r.json && r.paths.size() > 1;
  std::string_view before = list ? "[\n" : "";
  for (const auto& path : r.paths) {
    const auto found = troupe::inspect(path, {.verify = r.verify, .values = r.values});
    if (!found) {
      status = std::max(status,
                        failure(console, found.error(), misuse_if(found.error().category == errc::invalid_argument)));
      continue;
    }
    write_output(before);
    before = list ? ",\n" : "\n";
    const auto* directory = std::get_if<directory_description>(&*found);
    if (r.dot && !(directory && directory->search))
      return usage_failure(console, misuse(fmt::format("--dot draws the model directory of a search, and {} is none "
                                                       "(or has no checkpoint yet)",
                                                       path))
                                        .value());
    if (r.dot)
      write_text(to_dot(*directory->search));
    else
      r.json ? write_output(to_json(*found)) : write_text(to_text(*found));
    status = std::max<int>(status, is_sound(*found) ? succeeded : failed);
  }
  if (list)
    write_output(before.starts_with('[') ? "[]\n" : "]\n");
  return status;
}

/// Fills in settings that a job needs but an inspection does not.
expected<job_setup> setup_of(const invocation& r) {
  command_line line;
  line.config = r.config;
  for (const auto& text : r.set) {
    auto a = parse_assignment(text);
    if (!a)
      return misuse(a.error().message);
    line.set.push_back(std::move(*a));
  }
  auto given = load_settings(line);
  if (given && !given->has("run.model_dir"))
    line.flags.push_back({"run.model_dir", "none", "inspect"});
  if (given && !given->has("run.max_steps") && !given->has("run.steps") && !given->has("input.epochs"))
    line.flags.push_back({"run.max_steps", "1", "inspect"});
  if (given && !line.flags.empty())
    given = load_settings(line);
  if (given && is_search(*given))
    return misuse(
        fmt::format("{} configures a search, which has no plan and no graph before it runs: give the PATH of "
                    "its model directory",
                    r.config));
  return given.and_then([](const settings& s) { return make_job_setup(s, job_purpose::training); });
}

int show_deployment(const invocation& r, const job_setup& setup, console_printer& console) {
  auto options = *deployment_of(r);
  if (setup.estimator.config.replicas > 1)  // 1 is the default, and says nothing of other hosts.
    options.replicas = setup.estimator.config.replicas;
  const int64_t test_batch = setup.evaluations.front().data.batch_size;
  options.train_batch = options.train_batch.value_or(setup.input.batch_size);
  options.eval_batch = options.eval_batch.value_or(test_batch);
  options.predict_batch = options.predict_batch.value_or(test_batch);
  const auto layout = describe_deployment(options);
  if (!layout)
    return failure(console, layout.error(), misuse_if(layout.error().category == errc::invalid_argument));
  r.json ? write_output(to_json(*layout)) : write_text(to_text(*layout));
  return succeeded;
}

int show_config(const invocation& r, console_printer& console) {
  const auto setup = setup_of(r);
  if (!setup)
    return usage_failure(console, setup.error());
  if (r.deployment())
    return show_deployment(r, *setup, console);
  const auto data = open_training_data(*setup);
  if (!data)
    return failure(console, data.error());
  const auto training = make_train_spec(*setup, *data);
  std::vector<eval_spec> evaluations;
  for (const auto& e : setup->evaluations) {
    const auto test = setup->evaluates() ? open_test_data(*setup, e) : data;
    if (!test)
      return failure(console, test.error());
    if (e.while_training || !setup->evaluates())
      evaluations.push_back(make_eval_spec(e, *test));
  }
  if (!r.program && !r.profile && !r.dot && r.graph.empty()) {
    const auto plan = inspect_plan(setup->estimator, training,
                                   setup->evaluates() ? eval_specs{evaluations} : eval_specs{});
    if (!plan)
      return failure(console, plan.error(), misuse_if(plan.error().category == errc::invalid_argument));
    r.json ? write_output(to_json(*plan)) : write_text(to_text(*plan));
    return succeeded;
  }
  const auto& input = r.graph_mode() == mode::train ? training.input : evaluations.front().input;
  if (r.profile) {
    const auto profile = profile_model(setup->estimator, input, r.graph_mode(),
                                       parse_count("--steps", r.steps, 1)->value_or(20));
    if (!profile)
      return failure(console, profile.error(), misuse_if(profile.error().category == errc::invalid_argument));
    r.json ? write_output(to_json(*profile)) : write_text(to_text(*profile));
    return succeeded;
  }
  const auto graph = inspect_graph(setup->estimator, input, r.graph_mode());
  if (!graph)
    return failure(console, graph.error(), misuse_if(graph.error().category == errc::invalid_argument));
  r.json ? write_output(to_json(*graph))
         : write_text(r.dot       ? to_dot(*graph)
                      : r.program ? graph->program.text
                                  : to_text(*graph));
  return succeeded;
}

constexpr own_command<invocation> command{"inspect", about, usage, add_arguments};

}  // namespace

command_description describe_inspect() { return command.description(); }

int inspect(const std::vector<std::string>& arguments, console_printer& console) {
  const auto r = command.read(arguments, console);
  if (!r)
    return r.error();
  if (const auto sound = check(*r); !sound)
    return usage_failure(console, sound.error());
  return r->config.empty() ? show_paths(*r, console) : show_config(*r, console);
}

}  // namespace troupe::cli
