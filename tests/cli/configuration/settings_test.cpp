#include "cli/configuration/settings.hpp"

#include "cli/configuration/config_file.hpp"
#include "cli/configuration/job_setup.hpp"

#include <troupe/run_config.hpp>

#include <doctest/doctest.h>

#include <sstream>

namespace troupe::cli {

namespace {

std::vector<assignment> file(const std::string& text) {
  std::istringstream stream{text};
  auto read = parse_config(stream, "my.toml");
  REQUIRE(read);
  return *read;
}

std::vector<assignment> set(std::initializer_list<const char*> texts) {
  std::vector<assignment> all;
  for (const auto* text : texts)
    all.push_back(*parse_assignment(text));
  return all;
}

settings merged(const std::vector<assignment>& of_file, const std::vector<assignment>& of_set = {},
                const std::vector<assignment>& flags = {}) {
  auto all = settings::merge(of_file, of_set, flags);
  REQUIRE_MESSAGE(all, all.error().message);
  return *all;
}

std::string complaint(const std::vector<assignment>& of_file, const std::vector<assignment>& of_set = {}) {
  const auto all = settings::merge(of_file, of_set, {});
  return all ? "" : all.error().message;
}

expected<job_setup> setup(const std::string& text, std::initializer_list<const char*> more = {}) {
  auto all = settings::merge(file("[model]\nhidden_units = [4]\nclasses = 2\n" + text), set(more), {});
  return all ? make_job_setup(*all, job_purpose::training) : fail(all.error());
}

}  // namespace

TEST_CASE("a flag beats --set, and both beat the file") {
  const auto config = file("[run]\nmax_steps = 1\nseed = 1\nreplicas = 1\n");
  const auto all = merged(config, set({"run.max_steps=2", "run.seed=2"}), {{"run.max_steps", "3", "--max-steps"}});
  CHECK(all.get<int64_t>("run.max_steps") == 3);
  CHECK(all.get<uint64_t>("run.seed") == 2);
  CHECK(all.get<int64_t>("run.replicas") == 1);
  CHECK_FALSE(all.get<int64_t>("run.steps"));
}

TEST_CASE("of two --set of the same key the last one counts") {
  CHECK(merged({}, set({"run.max_steps=2", "max_steps=5"})).get<int64_t>("run.max_steps") == 5);
}

TEST_CASE("--set takes the part after the dot where only one key ends so") {
  CHECK(merged({}, set({"epochs=3"})).get<int64_t>("input.epochs") == 3);
  CHECK(complaint({}, set({"batch_size=3"}))
        == "--set: key batch_size is ambiguous: it can be input.batch_size or evaluate.batch_size");
  CHECK(complaint(file("epochs = 3\n")) == "my.toml:1: unknown key epochs; did you mean input.epochs?");
}

TEST_CASE(
    "every key can be set by its full name, and one that several tables have is refused by its short one with all of "
    "these") {
  const auto numbered = [](std::string name) {
    for (size_t at = name.find("[]"); at != std::string::npos; at = name.find("[]"))
      name.replace(at, 2, "[0]");
    return name;
  };
  std::map<std::string, std::vector<std::string>> short_names;
  for (const auto& key : known_keys()) {
    const auto name = numbered(key.name), short_name = key.name.substr(key.name.find('.') + 1);
    const auto told = complaint({}, set({(name + "=?").c_str()}));
    CHECK_MESSAGE((told.empty() || told.starts_with("--set: " + name + " must be ")), told);
    if (key.name.find('.') < key.name.find('['))
      short_names[short_name].push_back(key.name);
  }
  CHECK(short_names.at("freeze") == std::vector<std::string>{"optimizer.freeze", "warm_start.freeze"});
  CHECK(short_names.at("type") == std::vector<std::string>{"model.type", "head.type"});
  CHECK(short_names.at("classes") == std::vector<std::string>{"model.classes", "head.classes"});
  for (const auto& [name, whole] : short_names)
    if (whole.size() > 1) {
      std::string all;
      for (const auto& one : whole)
        all += (all.empty() ? "" : " or ") + one;
      CHECK(complaint({}, set({(numbered(name) + "=1").c_str()}))
            == "--set: key " + numbered(name) + " is ambiguous: it can be " + all);
    }
}

TEST_CASE("values of every type are read from TOML and from text") {
  const auto all = merged(file(
      "[model]\nhidden_units = [256, 128]\ndropout = 0.5\n[input]\nshuffle = false\n[run]\nmodel_dir = \"a b\"\n"));
  CHECK(all.get<std::vector<int64_t>>("model.hidden_units") == std::vector<int64_t>{256, 128});
  CHECK(all.get<double>("model.dropout") == 0.5);
  CHECK(all.get<bool>("input.shuffle") == false);
  CHECK(all.text("run.model_dir") == "a b");
  const auto text = merged(
      {}, set({"model.hidden_units=[7, 8]", "shuffle=true", "rate=3e-4", "run.seed=18446744073709551615"}));
  CHECK(text.get<std::vector<int64_t>>("model.hidden_units") == std::vector<int64_t>{7, 8});
  CHECK(text.get<bool>("input.shuffle") == true);
  CHECK(text.get<double>("optimizer.rate") == 3e-4);
  CHECK(text.get<uint64_t>("run.seed") == UINT64_MAX);
  CHECK(merged({}, set({"hidden_units="})).get<std::vector<int64_t>>("model.hidden_units")->empty());
}

TEST_CASE("what becomes of an evaluation that fails is said by a key") {
  const std::string job = "[run]\nmodel_dir = \"/m\"\nmax_steps = 5\n";
  CHECK(setup(job)->evaluations.front().spec.on_evaluator_failure == failure_policy::fail);
  CHECK(setup(job, {"on_evaluator_failure=go_on"})->evaluations.front().spec.on_evaluator_failure
        == failure_policy::go_on);
  CHECK(complaint({}, set({"on_evaluator_failure=ignore"}))
        == "--set: evaluate.on_evaluator_failure must be one of fail, go_on, not 'ignore'");
}

TEST_CASE(
    "each [[evaluate]] is an evaluation, and a key of all of them gives way to its own unless it has the higher "
    "precedence") {
  const std::string job =
      "[run]\nmodel_dir = \"m\"\nmax_steps = 5\n[[evaluate]]\nthrottle_secs = 0\n[[evaluate]]\nname = \"train\"\nsplit "
      "= \"train\"\n"
      "steps = 3\nthrottle_secs = 60\nbatch_size = 10\n";
  const auto made = setup(job, {"evaluate.throttle_secs=5", "evaluate[1].throttle_secs=7", "evaluate.batch_size=20"});
  REQUIRE_MESSAGE(made, made.error().message);
  REQUIRE(made->evaluations.size() == 2);
  const auto& [first, second] = std::pair{made->evaluations[0], made->evaluations[1]};
  CHECK(first.spec.name.empty());
  CHECK(first.data.split == data_split::test);
  CHECK(first.spec.throttle_secs == 5);
  CHECK(second.spec.name == "train");
  CHECK(second.data.split == data_split::train);
  CHECK(second.spec.steps == 3);
  CHECK(second.spec.throttle_secs == 7);
  CHECK(second.data.batch_size == 20);
  CHECK(find_evaluation(*made, {})->key == "evaluate[0]");
  CHECK(find_evaluation(*made, "train")->key == "evaluate[1]");
  CHECK(find_evaluation(*made, "other").error().message
        == "there is no evaluation named 'other'; the configuration has one without a name, 'train'");
  CHECK(setup("[run]\nmodel_dir = \"m\"\nmax_steps = 5\n[[evaluate]]\nwhen = \"never\"\n[[evaluate]]\nname = \"b\"\n")
            ->evaluates());
  CHECK_FALSE(setup(job, {"evaluate.when=never"})->evaluates());
  const auto exporting = setup(
      "[run]\nmodel_dir = \"m\"\nmax_steps = 5\n[[evaluate]]\n[[evaluate.exporters]]\nrule = \"best\"\nmetric = "
      "\"accuracy\"\n"
      "smaller_is_better = false\n[[evaluate.exporters]]\nname = \"last\"\nrule = \"final\"\n");
  REQUIRE_MESSAGE(exporting, exporting.error().message);
  REQUIRE(exporting->evaluations.front().spec.exporters.size() == 2);
  CHECK(exporting->evaluations.front().spec.exporters[0].goal.metric == "accuracy");
  CHECK(exporting->evaluations.front().spec.exporters[1].rule == export_rule::final);
  CHECK(complaint(file("[[evaluate]]\nsplit = \"dev\"\n"))
        == "my.toml:2: evaluate[0].split must be one of test, train, not 'dev'");
  CHECK(complaint(file("[[evaluate]]\nthrotle_secs = 1\n"))
        == "my.toml:2: unknown key evaluate[0].throtle_secs; did you mean evaluate[0].throttle_secs?");
}

TEST_CASE("a value of the wrong type is named with its key, its line and what would be right") {
  CHECK(complaint(file("[model]\n\nclasses = \"ten\"\n"))
        == "my.toml:3: model.classes must be a whole number of at least 2, not 'ten'");
  CHECK(complaint(file("[run]\nmax_steps = 1e3\n"))
        == "my.toml:2: run.max_steps must be a whole number of at least 1, or \"none\", not 1000.0");
  CHECK(complaint(file("[model]\ndropout = 1\n")) == "my.toml:2: model.dropout must be a number in [0, 1), not 1");
  CHECK(complaint(file("[input]\nshuffle = 1\n")) == "my.toml:2: input.shuffle must be true or false, not 1");
  CHECK(complaint({}, set({"hidden_units=3,x"}))
        == "--set: model.hidden_units must be a list of whole numbers of at least 1, such as [256, 128], not '3,x'");
  CHECK(complaint({}, set({"when=later"})) == "--set: evaluate.when must be one of waits, beside, never, not 'later'");
  CHECK(complaint({}, set({"keep_checkpoint_max=-1"}))
        == "--set: run.keep_checkpoint_max must be a whole number of at least 0, or \"none\", not '-1'");
  CHECK_FALSE(parse_assignment("run.seed"));
  CHECK_FALSE(parse_assignment("=3"));
}

TEST_CASE("unknown keys and tables are told with the nearest known one, all at once") {
  const auto all = settings::merge(
      file("[run]\nsave_checkpoint_steps = 1\nhidden_units = [1]\n[modle]\n[elsewhere.more]\nx = 1\n"), {}, {});
  REQUIRE_FALSE(all);
  CHECK(all.error().category == errc::invalid_argument);
  CHECK(all.error().message
        == "my.toml:2: unknown key run.save_checkpoint_steps; did you mean run.save_checkpoints_steps?");
  CHECK(all.error().notes
        == std::vector<std::string>{"my.toml:3: unknown key run.hidden_units; did you mean model.hidden_units?",
                                    "my.toml:4: unknown table modle; did you mean model?",
                                    "my.toml:6: unknown key elsewhere.more.x"});
}

TEST_CASE("of very many unknown keys twenty are told, and how many more there are") {
  std::vector<assignment> all;
  for (int i = 0; i < 80'000; ++i)
    all.push_back({"run.key" + std::to_string(i), "1", "my.toml:" + std::to_string(i + 1), value_kind::integer});
  all.push_back({"run.replicas", "1", "my.toml:80001", value_kind::integer});
  all.push_back({"run.replicas", "0", "my.toml:80002", value_kind::integer});
  const auto refused = settings::merge(all, {}, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.starts_with("my.toml:1: unknown key run.key0"));
  REQUIRE(refused.error().notes.size() == 20);
  CHECK(refused.error().notes[18].starts_with("my.toml:20: unknown key run.key19"));
  CHECK(refused.error().notes[19] == "and 79981 more like these");
}

TEST_CASE("text that is no TOML is told with its line and column") {
  std::istringstream broken{"[run]\nseed = \n"};
  const auto read = parse_config(broken, "my.toml");
  REQUIRE_FALSE(read);
  CHECK(read.error().category == errc::invalid_argument);
  CHECK_MESSAGE(read.error().message.starts_with("my.toml:2:"), read.error().message);
}

TEST_CASE("a text with a NUL is refused with its line and key: a path would end there unseen") {
  for (const auto* line : {"model_dir = \"runs/a\\u0000b\"", "[[evaluate]]\nname = \"a\\u0000b\""}) {
    std::istringstream stream{"[run]\n" + std::string{line}};
    const auto read = parse_config(stream, "my.toml");
    REQUIRE_FALSE(read);
    CHECK(read.error().category == errc::invalid_argument);
    CHECK_MESSAGE(read.error().message.starts_with("my.toml:"), read.error().message);
    CHECK(read.error().message.ends_with(" has a NUL character, where a file's name would end"));
  }
}

TEST_CASE(
    "a file that nests too deep is told with its line, and one of many dots and brackets beside each other is not") {
  const size_t depth = 100'000;
  const auto repeated = [](const std::string& part, size_t times) {
    std::string all;
    for (size_t i = 0; i < times; ++i)
      all += part;
    return all;
  };
  for (const auto& text : {"[" + repeated("a.", depth) + "a]\n", repeated("a.", depth) + "a = 1\n",
                           "a = " + repeated("[", depth) + repeated("]", depth),
                           "a = " + repeated("{a = ", depth) + "1" + repeated("}", depth),
                           "a = " + repeated("{a.b.c = ", depth), repeated("\"a\" . ", depth) + "a = 1\n",
                           "[[" + repeated("a.", depth) + "a]]\n", "a = [1, [2.5," + repeated("[", depth)}) {
    std::istringstream stream{"# one\n" + text};
    const auto read = parse_config(stream, "my.toml");
    REQUIRE_FALSE(read);
    CHECK(read.error().category == errc::invalid_argument);
    CHECK(read.error().message == "my.toml:2: nests deeper than 32 lists and tables");
  }
  const auto flat = file("# " + repeated("a.", 100) + repeated("[", 100) + "\n[optimizer]\nvalues = ["
                         + repeated("0.5, ", 100) + "1]\n[model]\ntype = \"" + repeated("[.", 100) + "\"\nlabels = '''"
                         + repeated("\n{.", 100) + "'''\n[run]\n");
  CHECK(flat.size() == 3);
}

TEST_CASE("a configuration that has no end is refused, and so is one that cannot be read") {
  struct endless final : std::streambuf {
    int_type underflow() override {
      setg(&c, &c, &c + 1);
      return '#';
    }
    char c = '#';
  } buffer;
  std::istream stream{&buffer};
  CHECK(parse_config(stream, "/dev/zero").error().message
        == "the configuration /dev/zero has more than 16777216 bytes");
  CHECK(read_config("/").error().category == errc::not_found);
}

TEST_CASE("the configuration of a run has what the keys say") {
  const auto made = setup(
      "[run]\nmodel_dir = \"m\"\nmax_steps = 9\ngradient_shards = 4\nreplicas = 2\nkeep_checkpoint_max = "
      "\"none\"\nseed = 7\n");
  REQUIRE_MESSAGE(made, made.error().message);
  const auto& config = made->estimator.config;
  CHECK(config.model_dir == "m");
  CHECK(config.gradient_shards == 4);
  CHECK(config.replicas == 2);
  CHECK_FALSE(config.keep_checkpoint_max);
  CHECK(config.seed == 7);
  CHECK(made->training.max_steps == 9);
  CHECK(made->evaluates());
}

TEST_CASE("seconds between checkpoints on the command line take the place of steps in the file") {
  const auto made = setup("[run]\nmodel_dir = \"m\"\nmax_steps = 9\nsave_checkpoints_steps = 4\n",
                          {"save_checkpoints_secs=60"});
  REQUIRE_MESSAGE(made, made.error().message);
  CHECK_FALSE(made->estimator.config.save_checkpoints_steps.value());
  CHECK(made->estimator.config.save_checkpoints_secs.value() == 60);
  CHECK_FALSE(
      setup("[run]\nmodel_dir = \"m\"\nmax_steps = 9\nsave_checkpoints_steps = 4\nsave_checkpoints_secs = 60\n"));
}

TEST_CASE("a missing key that a job needs is named") {
  const auto without = [](const std::string& text) {
    const auto made = make_job_setup(merged(file(text)), job_purpose::training);
    return made ? "" : made.error().message.substr(0, made.error().message.find(':'));
  };
  CHECK(without("") == "model.hidden_units is missing");
  CHECK(without("[model]\nhidden_units = []\n") == "model.classes is missing");
  CHECK(without("[model]\nhidden_units = []\nclasses = 2\n") == "run.model_dir is missing");
  CHECK(without("[model]\nhidden_units = []\nclasses = 2\n[run]\nmodel_dir = \"m\"\n") == "run.max_steps is missing");
  CHECK(without("[model]\nhidden_units = []\nclasses = 2\n[run]\nmodel_dir = \"m\"\nsteps = 3\n") == "");
}

TEST_CASE("where nothing is kept nothing is evaluated") {
  const auto made = setup("[run]\nmodel_dir = \"none\"\nmax_steps = 9\n");
  REQUIRE(made);
  CHECK_FALSE(made->evaluates());
  CHECK_FALSE(made->estimator.config.model_dir);
}

TEST_CASE("whole numbers beyond what a plan holds are refused with key, value and bound, and not taken for others") {
  const auto refused = [](const char* text) {
    const auto made = setup("[run]\nmodel_dir = \"none\"\nmax_steps = 1\n", {text});
    return made ? std::string{} : made.error().message;
  };
  CHECK(refused("run.gradient_shards=4294967296")
        == "--set: run.gradient_shards must be a whole number in [1, 1048576], or \"none\", not '4294967296'");
  CHECK(refused("run.gradient_shards=4611686018427387904")
        == "--set: run.gradient_shards must be a whole number in [1, 1048576], or \"none\", not '4611686018427387904'");
  CHECK(refused("run.replicas=4294967298")
        == "--set: run.replicas must be a whole number in [1, 1024], not '4294967298'");
  CHECK(refused("run.replicas=9223372036854775807")
        == "--set: run.replicas must be a whole number in [1, 1024], not '9223372036854775807'");
  CHECK(refused("run.intra_op_threads=4294967297")
        == "--set: run.intra_op_threads must be a whole number in [0, 1024], not '4294967297'");
  CHECK(refused("run.replicas=9223372036854775808")
        == "--set: run.replicas must be a whole number in [1, 1024], not '9223372036854775808'");
}

}  // namespace troupe::cli
