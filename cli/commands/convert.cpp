// troupe convert: converts checkpoints of TensorFlow and safetensors into ours, and ours into these.
#include "cli/commands/commands.hpp"
#include "cli/configuration/nearest.hpp"
#include "cli/terminal/output.hpp"

#include <troupe/convert.hpp>
#include <troupe/options/option_field.hpp>

#include <fmt/format.h>

namespace troupe::cli {

namespace {

constexpr const char* about = "Converts a checkpoint between Troupe, TensorFlow V2 and safetensors.";
constexpr const char* usage = R"(
FROM may be a model directory (its newest checkpoint, or that of --step), DIR/model.ckpt-390 or its manifest, a
TensorFlow V2 checkpoint (its prefix, or PREFIX.index), or any .safetensors file. TO becomes
  troupe        a model directory that `troupe train`, evaluate and predict use: what a checkpoint of TensorFlow becomes
  tensorflow    a directory with model.ckpt-STEP.index, its data and the state file: what one of ours is converted to
  safetensors   a file: where TO ends in .safetensors
Tensors keep their names and bits. Slots of TensorFlow's optimizers have the same names as ours; those below a
partition or a tower (w/part_0/Adam, w/t_0/Adagrad) are put below their variable. The job goes on at the
global_step, with its data anew. What has no place in TO is listed with the reason. Nothing is overwritten.

Examples:
  troupe convert runs/estimator runs/mine
  troupe convert runs/fashion runs/for_tensorflow
  troupe convert runs/mine runs/back --like runs/estimator
  troupe convert runs/fashion/model.ckpt-390 weights.safetensors

Exit status:
  0    converted
  1    an error: a checkpoint that is damaged or missing, a TO that exists, the disk
  2    misuse: a flag or a value that cannot be
  130  ended by SIGINT, 143 by SIGTERM, 129 by SIGHUP
)";

struct invocation {
  std::string from, to;
  std::optional<std::string> format, step, like, beta1, beta2;
  bool json = false;
};

void add_arguments(command_arguments& known, invocation& r) {
  known.word("FROM", r.from, "a model directory, a checkpoint or a .safetensors file");
  known.word("TO", r.to, "a new directory, or a new .safetensors file");
  known.value("--format", "troupe|tensorflow|safetensors", r.format,
              "what TO becomes [safetensors by its ending; troupe from TensorFlow; tensorflow]");
  known.value("--step", "N", r.step, "the checkpoint of this step [the newest]");
  known.value("--like", "PATH", r.like,
              "to tensorflow: a checkpoint of TensorFlow's whose names are used, as those of the Estimator's slots");
  known.value("--beta1", "X", r.beta1, "to tensorflow: Adam's beta1, for its variable beta1_power [0.9]");
  known.value("--beta2", "X", r.beta2, "and its beta2 [0.999]");
  known.flag("--json", r.json, "one JSON object");
}

tl::unexpected<error> misuse(std::string message) { return cli::misuse("convert", std::move(message)); }

expected<void> read_beta(const char* flag, const std::optional<std::string>& text, double& into) {
  if (!text || (parse_option(*text, into) && into >= 0 && into < 1))
    return {};
  return misuse(fmt::format("{} must be a number in [0, 1), not '{}'", flag, *text));
}

expected<convert_options> read_options(const invocation& r) {
  if (r.from.empty() || r.to.empty())
    return misuse("convert takes FROM and TO");
  convert_options options;
  if (r.format) {
    std::vector<std::string> names;
    for (const auto f : {checkpoint_format::troupe, checkpoint_format::tensorflow, checkpoint_format::safetensors}) {
      names.emplace_back(to_string(f));
      if (*r.format == names.back())
        options.format = f;
    }
    if (!options.format)
      return misuse(fmt::format("--format must be troupe, tensorflow or safetensors, not '{}'{}", *r.format,
                                did_you_mean(nearest(*r.format, names))));
  }
  const auto step = parse_count("--step", r.step, 0);
  if (!step)
    return misuse(step.error().message);
  options.step = *step;
  options.like = r.like;
  return read_beta("--beta1", r.beta1, options.beta1)
      .and_then([&] { return read_beta("--beta2", r.beta2, options.beta2); })
      .map([&] { return options; });
}

constexpr own_command<invocation> command{"convert", about, usage, add_arguments};

}  // namespace

command_description describe_convert() { return command.description(); }

int convert(const std::vector<std::string>& arguments, console_printer& console) {
  const auto r = command.read(arguments, console);
  if (!r)
    return r.error();
  const auto options = read_options(*r);
  if (!options)
    return usage_failure(console, options.error());
  const auto done = convert_checkpoint(r->from, r->to, *options);
  if (!done)
    return failure(console, done.error(), misuse_if(done.error().category == errc::invalid_argument));
  r->json ? write_output(to_json(*done)) : write_text(to_text(*done));
  return succeeded;
}

}  // namespace troupe::cli
