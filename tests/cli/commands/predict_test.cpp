// troupe predict as a process: its results, their destinations, and its exit status.
#include "tests/cli/program.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>
#include <sstream>

namespace troupe::cli {

using test::has;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

std::string contents(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::set<std::string> files_in(const std::string& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{directory})
    names.insert(entry.path().filename());
  return names;
}

/// The label of test image `i`, as `write_images` in program.cpp computes it.
int64_t label_of(size_t i) { return static_cast<int64_t>(i * 7 % 10); }

/// A project whose model predicts the right class for all test images.
struct trained_project : small_project {
  explicit trained_project(uint32_t test_images = 64) : small_project(test_images) {
    REQUIRE(run_program(
                train({"--max-steps", "64", "--set", "optimizer.rate=0.01", "--set", "evaluate.when=never", "--quiet"}))
                .status
            == 0);
  }
  std::vector<std::string> predict(std::vector<std::string> more = {}) const {
    return command("predict", std::move(more));
  }
};

}  // namespace

TEST_CASE("predict writes a line for each test image in their order, and nothing else to standard output") {
  const trained_project project;
  const auto result = run_program(project.predict({"--keys", "class_ids"}));
  CHECK(result.status == 0);
  const auto lines = lines_of(result.out);
  REQUIRE(lines.size() == 65);
  CHECK(lines[0] == "class_ids");
  int right = 0;
  for (size_t i = 0; i < 64; ++i)
    right += std::stoll(lines[i + 1]) == label_of(i);
  CHECK(right == 64);
  CHECK(has(result.err, "64 results in "));
  CHECK(has(result.err, "from " + project.path("model") + "/model.ckpt-64\n"));

  const auto all = lines_of(run_program(project.predict()).out);
  CHECK(all[0].starts_with("class_ids,logits_0,logits_1,"));
  CHECK(run_program(project.predict({"--quiet"})).err == "");
}

TEST_CASE("predict and export take pictures without labels, and what needs labels names the key") {
  const trained_project project;
  const std::string images = "evaluate.images=" + project.path("data/t10k-images-idx3-ubyte");
  const auto with = [&](const std::string& name, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--set", "input.format=idx", "--set", images});
    return run_program(project.command(name, more));
  };
  const auto labelled = run_program(project.predict());
  CHECK(with("predict").out == labelled.out);
  const auto exported = with("export");
  REQUIRE_MESSAGE(exported.status == 0, exported.err);
  const auto path = exported.out.substr(0, exported.out.find('\n'));
  const auto from_export = run_program({"predict", "--export", path, "--set", "input.format=idx", "--set", images});
  CHECK_MESSAGE(from_export.status == 0, from_export.err);
  CHECK(lines_of(from_export.out).size() == 65);
  const auto judged = with("evaluate");
  CHECK(judged.status == 2);
  CHECK_MESSAGE(has(judged.err, "evaluate.labels is missing: input.format is idx, and only predictions"), judged.err);
  const auto trained = with("train", {"--max-steps", "72", "--set", "input.images=x"});
  CHECK(trained.status == 2);
  CHECK_MESSAGE(has(trained.err, "input.labels is missing"), trained.err);
}

TEST_CASE("predict --limit, --step and --format choose how many, of which checkpoint and how") {
  const trained_project project;
  const auto result = run_program(project.predict({"--format", "jsonl", "--limit", "3"}));
  CHECK(result.status == 0);
  REQUIRE(result.events().size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(result.events()[i]["class_ids"] == label_of(i));
    REQUIRE(result.events()[i]["probabilities"].size() == 10);
    CHECK(result.events()[i]["probabilities"][static_cast<size_t>(label_of(i))].get<double>() > 0.5);
  }
  const auto earlier = run_program(project.predict({"--step", "56", "--format", "jsonl", "--limit", "3"}));
  CHECK(has(earlier.err, "model.ckpt-56\n"));
  CHECK(earlier.out != result.out);
  CHECK(run_program(project.predict({"--checkpoint", project.path("model") + "/model.ckpt-56", "--format", "jsonl",
                                     "--limit", "3"}))
            .out
        == earlier.out);
  CHECK(run_program(project.predict({"--limit", "1000", "--keys", "class_ids"})).out
        == run_program(project.predict({"--keys", "class_ids"})).out);
}

TEST_CASE("predict --output has the file under its name once it is whole, and npy one file a key") {
  const trained_project project;
  const auto printed = run_program(project.predict());
  const auto to_file = run_program(project.predict({"--output", project.path("out.csv")}));
  CHECK(to_file.status == 0);
  CHECK(to_file.out.empty());
  CHECK(contents(project.path("out.csv")) == printed.out);
  CHECK(has(to_file.err, " to " + project.path("out.csv")));

  const auto arrays = run_program(project.predict({"--format", "npy", "--output", project.path("arrays")}));
  CHECK(arrays.status == 0);
  CHECK(files_in(project.path("arrays")) == std::set<std::string>{"class_ids.npy", "logits.npy", "probabilities.npy"});
  const auto classes = contents(project.path("arrays/class_ids.npy"));
  CHECK(has(classes, "'descr': '<i8', 'fortran_order': False, 'shape': (64,)"));
  CHECK(static_cast<int64_t>(classes[classes.size() - 8]) == label_of(63));
}

TEST_CASE("an array that a limit on file sizes cuts off is an error, and leaves none of the arrays behind") {
  const trained_project project{2'000};
  const auto to = project.path("arrays");
  // The array of classes is below the limit.
  const auto result = run_program("ulimit -f 32", project.predict({"--format", "npy", "--output", to}));
  CHECK(result.status == 1);
  CHECK(has(result.err, "error: resource_exhausted: cannot write " + to));
  CHECK(files_in(to).empty());
}

TEST_CASE(
    "predict --output writes to a device or a pipe, and to where a symbolic link leads, and replaces none of them") {
  const trained_project project;
  const auto printed = run_program(project.predict()).out;
  namespace fs = std::filesystem;

  const auto pipe = project.path("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(reader >= 0);
  CHECK(run_program(project.predict({"--output", pipe})).status == 0);
  CHECK(fs::is_fifo(pipe));
  std::string taken(size_t{1} << 16, '\0');  // The capacity of a pipe.
  taken.resize(static_cast<size_t>(std::max<ssize_t>(0, read(reader, taken.data(), taken.size()))));
  close(reader);
  CHECK(taken == printed);

  // A device made for this test, since a program that replaces devices would replace the machine's null device.
  auto device = project.path("null");
  if (mknod(device.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0)
    device = "/dev/null";  // A user who cannot create a device cannot replace one either.
  CHECK(run_program(project.predict({"--output", device})).status == 0);
  CHECK(fs::is_character_file(device));

  for (const auto& [link, target] : {std::pair{"link", "target.csv"}, std::pair{"dangling", "absent.csv"}}) {
    if (std::string{target} == "target.csv")
      std::ofstream{project.path(target)} << "before";
    fs::create_symlink(target, project.path(link));
    CHECK(run_program(project.predict({"--output", project.path(link)})).status == 0);
    CHECK(fs::is_symlink(project.path(link)));
    CHECK(contents(project.path(target)) == printed);
  }
  fs::create_symlink("loop", project.path("loop"));
  const auto loop = run_program(project.predict({"--output", project.path("loop")}));
  CHECK(loop.status == 1);
  CHECK(has(loop.err, "Too many levels of symbolic links"));

  CHECK(run_program(project.predict({"--output", "/dev/stdout"})).out == printed);
  CHECK(run_program(project.predict({"--output", "-"})).out == printed);
}

TEST_CASE("a vocabulary gives classes as words, in text but not in arrays, where a warning says so") {
  const trained_project project;
  const std::vector<std::string> with{"--set", "model.vocabulary=zero,one,two,three,four,five,six,seven,eight,nine"};
  auto arguments = project.predict({"--limit", "2", "--keys", "classes"});
  arguments.insert(arguments.end(), with.begin(), with.end());
  CHECK(run_program(arguments).out == "classes\nzero\nseven\n");
  arguments = project.predict({"--limit", "2", "--format", "npy", "--output", project.path("arrays")});
  arguments.insert(arguments.end(), with.begin(), with.end());
  const auto arrays = run_program(arguments);
  CHECK(arrays.status == 0);
  CHECK(has(arrays.err, "warning: 'classes' is made of words, which npy files do not hold"));
  CHECK(files_in(project.path("arrays")).size() == 3);
  arguments = project.predict({"--keys", "classes", "--format", "npy", "--output", project.path("nothing")});
  arguments.insert(arguments.end(), with.begin(), with.end());
  const auto nothing = run_program(arguments);
  CHECK(nothing.status == 2);
  CHECK(has(nothing.err, "'classes' is made of words, which npy files do not hold, and there is no other key"));
  CHECK_FALSE(std::filesystem::exists(project.path("nothing")));
  const auto wrong = run_program(project.predict({"--set", "model.vocabulary=zero,one"}));
  CHECK(wrong.status == 2);
  CHECK(has(wrong.err, "10 classes cannot be called by the 2 words"));
}

TEST_CASE("a vocabulary in the file is a list, and says how many classes there are") {
  const trained_project project;
  const auto path = project.path("words.toml");
  std::string text = contents(project.config());
  text.replace(text.find("classes = 10"), 12,
               "vocabulary = [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\", \"i\", \"j\"]");
  std::ofstream{path} << text;
  CHECK(run_program({"predict", "--config", path, "--keys", "classes", "--limit", "2"}).out == "classes\na\nh\n");
  std::ofstream{path} << "[model]\nhidden_units = [16]\nvocabulary = [1, 2]\n";
  const auto wrong = run_program({"predict", "--config", path});
  CHECK(wrong.status == 2);
  CHECK(has(wrong.err, "model.vocabulary must be a list of texts"));
}

TEST_CASE("misuse of predict exits with 2, and what is not there with 1; either way no output is left") {
  const trained_project project;
  const auto out = project.path("out.csv");
  const auto ends = [&](std::vector<std::string> more, int status, const std::string& part) {
    CAPTURE(part);
    more.insert(more.end(), {"--output", out});
    const auto result = run_program(project.predict(std::move(more)));
    CHECK(result.status == status);
    CHECK(result.out.empty());
    CHECK(has(result.err, part));
    CHECK_FALSE(std::filesystem::exists(out));
    CHECK_FALSE(std::filesystem::exists(out + ".tmp"));
  };
  ends({"--format", "xml"}, 2, "--format must be csv, jsonl or npy, not 'xml'");
  ends({"--limit", "0"}, 2, "--limit must be a whole number of at least 1, not '0'");
  ends({"--step", "-1"}, 2,
       "--step: '-1' names no checkpoint: it is newest, best, a step such as 390, or a path such as "
       "runs/fashion/model.ckpt-390");
  ends({"--keys", "class_ids,"}, 2, "--keys must be names with commas between them, not 'class_ids,'");
  ends({"--keys", "class_ids,class_ids"}, 2, "the key 'class_ids' is given twice");
  ends({"--keys", "scores"}, 2, "the model predicts no 'scores'; there are 'class_ids', 'logits', 'probabilities'");
  ends({"--jsno"}, 2, "unknown flag --jsno");
  ends({"--step", "9"}, 1, "9");
  ends({"--model-dir", project.path("empty")}, 1, "empty has no checkpoint to predict with");
  CHECK(has(run_program(project.predict({"--format", "npy"})).err, "--format npy needs --output"));
  const auto nowhere = run_program(project.predict({"--output", project.path("nowhere/out.csv")}));
  CHECK(nowhere.status == 1);
  CHECK(has(nowhere.err, "nowhere"));
}

TEST_CASE("a damaged checkpoint is an error, and one of another model says what differs") {
  const trained_project project;
  const auto other = run_program(project.predict({"--set", "model.hidden_units=8"}));
  CHECK(other.status == 1);
  CHECK(has(other.err, "is a checkpoint of another model"));
  for (const auto& entry : std::filesystem::directory_iterator{project.path("model")})
    if (entry.path().extension() == ".safetensors")
      std::filesystem::resize_file(entry.path(), 100);
  const auto damaged = run_program(project.predict());
  CHECK(damaged.status == 1);
  CHECK(damaged.out.empty());
  CHECK(has(damaged.err, "data_loss"));
}

TEST_CASE("a signal ends predict with its status, and a reader that goes away is no error") {
  // Far more results than a pipe holds, so that the program still writes when the signal comes.
  const trained_project project{10'000};
  for (const auto& [signal, status, name] : {std::tuple{SIGINT, 130, "SIGINT"}, std::tuple{SIGTERM, 143, "SIGTERM"}}) {
    program running{project.predict()};
    REQUIRE(running.wait_for("probabilities_9"));
    running.send(signal);
    const auto result = running.finish();
    CHECK(result.status == status);
    CHECK(has(result.err, std::string{"stopped by "} + name));
    CHECK_FALSE(has(result.err, "error: "));
    CHECK(lines_of(result.out).size() < 10'001);
  }
  program running{project.predict()};
  REQUIRE(running.wait_for("probabilities_9"));
  running.stop_reading();
  const auto result = running.finish();
  CHECK(result.status == 0);
  CHECK(result.err == "");
}

}  // namespace troupe::cli
