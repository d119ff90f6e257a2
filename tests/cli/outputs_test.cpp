// What commands write to paths that the user chooses: devices, pipes, links, full disks, names of arbitrary bytes.
#include "tests/cli/program.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

namespace troupe::cli {

using test::has;
namespace fs = std::filesystem;

namespace {

std::string contents(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// A project with a checkpoint, from which every command that writes to a path has something to write.
struct writing_project : small_project {
  explicit writing_project(uint32_t test_images = 64) : small_project(test_images) {
    const auto trained = run_program(train({"--max-steps", "8", "--quiet"}));
    REQUIRE_MESSAGE(trained.status == 0, trained.err);
    weights = path("model") + "/model.ckpt-8-00000-of-00001.safetensors";
  }
  /// A device made for a test, since a program that replaces devices would replace the machine's. Users who cannot
  /// create a device get the machine's.
  std::string device(const std::string& name, unsigned minor) const {
    const auto made = path(name);
    return mknod(made.c_str(), S_IFCHR | 0600, makedev(1, minor)) == 0 ? made : "/dev/" + name;
  }
  std::string pipe(const std::string& name) const {
    const auto made = path(name);
    REQUIRE(mkfifo(made.c_str(), 0600) == 0);
    return made;
  }
  std::vector<std::string> onnx(const std::string& to) const { return command("export", {"--onnx", to}); }
  std::vector<std::string> results(const std::string& to) const {
    return command("predict", {"--quiet", "--output", to});
  }
  std::vector<std::string> arrays(const std::string& to) const {
    return command("predict", {"--quiet", "--format", "npy", "--output", to});
  }
  std::vector<std::string> exports(const std::string& to) const { return command("export", {"--output", to}); }
  std::vector<std::string> converted(const std::string& to) const {
    return {"convert", weights, to, "--format", "safetensors"};
  }

  std::string weights;
};

/// Waits until the program has blocked the signal, so that its watching thread receives it.
void wait_for_watch(pid_t id, int signal) {
  const auto is_blocked = [&] {
    std::ifstream status{"/proc/" + std::to_string(id) + "/status"};
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("SigBlk:"))
        return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
    return false;
  };
  while (!is_blocked() && kill(id, 0) == 0)
    std::this_thread::yield();
}

void fails(const outcome& done, const std::string& names) {
  CHECK(done.status == 1);
  CHECK_MESSAGE(has(done.err, names), done.err);
  CHECK(has(done.err, "error: "));
}

}  // namespace

TEST_CASE(
    "export --onnx and predict --output write a regular file, follow links, and write devices and pipes as they are") {
  const writing_project project;
  for (const bool is_onnx : {true, false}) {
    CAPTURE(is_onnx);
    const std::string tag = is_onnx ? "onnx-" : "csv-";
    const auto write = [&](const std::string& to) {
      return run_program(is_onnx ? project.onnx(to) : project.results(to));
    };
    const auto plain = project.path(tag + "plain");
    REQUIRE(write(plain).status == 0);
    const auto whole = contents(plain);
    CHECK(whole.size() > 500);

    const auto target = project.path(tag + "target"), link = project.path(tag + "link");
    fs::create_symlink(tag + "target", link);
    for (const bool there : {false, true}) {
      if (there)
        std::ofstream{target} << "before";
      CHECK(write(link).status == 0);
      CHECK(fs::is_symlink(link));
      CHECK(contents(target) == whole);
    }

    const auto null = project.device("null", 3);
    CHECK(write(null).status == 0);
    CHECK(fs::is_character_file(null));
    const auto full = project.device("full", 7);
    fails(write(full), "resource_exhausted: cannot write " + full + ": No space left on device");
    CHECK(fs::is_character_file(full));
    for (const auto& made : {null, full})
      if (made.starts_with(project.path("")))
        fs::remove(made);

    const auto pipe = project.pipe(tag + "pipe");
    std::string received;
    std::thread reader{[&] { received = contents(pipe); }};
    CHECK(write(pipe).status == 0);
    reader.join();
    CHECK(received == whole);
    CHECK(fs::is_fifo(pipe));

    fs::create_directory(project.path(tag + "directory"));
    fails(write(project.path(tag + "directory")),
          "cannot write to " + project.path(tag + "directory") + ": it is a directory");
    fails(write(project.path("none") + "/" + tag + "out"), project.path("none"));
    CHECK_FALSE(fs::exists(plain + ".tmp"));
    CHECK_FALSE(fs::exists(target + ".tmp"));
  }
}

TEST_CASE(
    "a limit on the size of files is an error of each command that writes one, names its path, and leaves what was "
    "there") {
  const writing_project project;
  const auto limited = [&](std::vector<std::string> arguments, const std::string& path) {
    CAPTURE(path);
    std::ofstream{path} << "before";
    fails(run_program("ulimit -f 4", std::move(arguments)), "resource_exhausted: cannot write " + path);
    CHECK(contents(path) == "before");
    CHECK_FALSE(fs::exists(path + ".tmp"));
  };
  limited(project.results(project.path("out.csv")), project.path("out.csv"));
  const auto to = project.path("new.safetensors");
  fails(run_program("ulimit -f 4", project.converted(to)), "resource_exhausted: cannot write " + to);
  CHECK_FALSE(fs::exists(to));
  CHECK_FALSE(fs::exists(to + ".tmp"));
}

TEST_CASE(
    "convert to a link that leads nowhere writes its target, and overwrites neither files nor devices nor pipes") {
  const writing_project project;
  fs::create_symlink("weights", project.path("link"));
  const auto done = run_program(project.converted(project.path("link")));
  CHECK_MESSAGE(done.status == 0, done.err);
  CHECK(fs::is_symlink(project.path("link")));
  CHECK(fs::file_size(project.path("weights")) > 1000);
  const auto null = project.device("null", 3), pipe = project.pipe("pipe");
  for (const auto& there : {project.path("weights"), null, pipe}) {
    const auto refused = run_program(project.converted(there));
    CHECK(refused.status != 0);
    CHECK(has(refused.err, there + " exists; give a new file"));
  }
  CHECK(fs::is_character_file(null));
  CHECK(fs::is_fifo(pipe));
}

TEST_CASE(
    "a device or a pipe in place of a directory is an error that names it, and stays, for each command that wants a "
    "directory") {
  const writing_project project;
  for (const auto& [path, kind] : {std::pair{project.device("null", 3), fs::file_type::character},
                                   std::pair{project.pipe("pipe"), fs::file_type::fifo}}) {
    CAPTURE(path);
    fails(run_program(project.exports(path)), path);
    fails(run_program(project.arrays(path)), path);
    fails(run_program({"convert", project.weights, path, "--format", "troupe"}), path);
    const auto trained = run_program(project.train({"--max-steps", "9", "--quiet", "--model-dir", path}));
    CHECK(trained.status != 0);
    CHECK(has(trained.err, path));
    CHECK(fs::status(path).type() == kind);
  }
  fs::create_directory(project.path("arrays"));
  const auto inside = project.pipe("arrays/logits.npy");
  fails(run_program(project.arrays(project.path("arrays"))),
        "cannot write to " + inside + ": it is a device or a pipe, and an array is a file");
  CHECK(fs::is_fifo(inside));
}

TEST_CASE(
    "a command that waits for the reader of its pipe, or for one that has stopped reading, ends at the first signal") {
  const writing_project project{10'000};  // Far more results than a pipe holds.
  const auto pipe = project.pipe("pipe");
  for (const auto& arguments : {project.onnx(pipe), project.results(pipe)}) {
    program running{arguments};
    if (arguments == project.onnx(pipe))
      REQUIRE(running.wait_for("/export/latest/"));
    wait_for_watch(running.id(), SIGTERM);
    running.send(SIGTERM);
    const auto ended = running.finish();
    CHECK(ended.status == 143);
    CHECK(has(ended.err + ended.out, "stopped by SIGTERM"));
  }
  for (const auto& [signal, status] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    program running{project.results(pipe)};
    const int reader = open(pipe.c_str(), O_RDONLY | O_CLOEXEC);
    char some[1] = {};
    REQUIRE(read(reader, some, 1) == 1);
    running.send(signal);
    const auto ended = running.finish();
    CHECK(ended.status == status);
    CHECK(has(ended.err, pipe + " was not written"));
    close(reader);
  }
  CHECK(fs::is_fifo(pipe));
}

TEST_CASE("a model directory whose name is not UTF-8 is trained, evaluated, exported and inspected as any other") {
  const small_project project;
  const auto directory = project.path("m\xff\xc3");
  std::ofstream{project.config(), std::ios::app} << "[[evaluate.exporters]]\nname = \"latest\"\n";
  const auto trained = run_program(project.train({"--max-steps", "8", "--model-dir", directory}));
  CHECK_MESSAGE(trained.status == 0, trained.err);
  CHECK_FALSE(fs::is_empty(directory + "/export/latest"));
  const auto made = run_program(project.command("export", {"--model-dir", directory}));
  REQUIRE_MESSAGE(made.status == 0, made.err);
  CHECK(made.out.starts_with(directory + "/export/latest/"));
  const auto path = made.out.substr(0, made.out.size() - 1);
  CHECK(has(contents(path + "/graph.json"), "m\xef\xbf\xbd\xef\xbf\xbd/model.ckpt-8"));
  CHECK(run_program({"inspect", path}).status == 0);
  CHECK(run_program(project.command("predict", {"--export", path, "--set", "model_dir=none", "--limit", "1"})).status
        == 0);
  CHECK(run_program(project.evaluate({"--model-dir", directory, "--json"})).events().size() > 0);
}

TEST_CASE("control characters of names and of damaged files are printed as text, and never reach the terminal") {
  const small_project project;
  const auto clean = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return c == '\n' || c == '\t' || c < 0 || (c >= ' ' && c != 127); });
  };
  const auto directory = project.path("m\x1b[31m\x07");
  const auto seen = project.path("m\\x1b[31m\\x07");
  const auto trained = run_program(project.train({"--max-steps", "8", "--model-dir", directory}));
  CHECK(trained.status == 0);
  CHECK_MESSAGE(clean(trained.out + trained.err), (trained.out + trained.err));
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"inspect", directory},
                                                    {"inspect", directory + "/none"},
                                                    {"checkpoints", "list", directory},
                                                    {"checkpoints", "verify", directory + "x"},
                                                    {"serve", directory + "/none"},
                                                    {"convert", directory + "/none", project.path("to")},
                                                    {"predict", "--export", directory, "--config", project.config()},
                                                    {"predict", "--config", directory},
                                                    {"train", "--" + directory},
                                                    {directory}}) {
    CAPTURE(arguments[0]);
    const auto shown = run_program(arguments);
    CHECK_MESSAGE(clean(shown.out + shown.err), (shown.out + shown.err));
    CHECK((has(shown.out + shown.err, "\\x1b[31m") || has(shown.out, "m?[31m?")));
  }
  const auto missing = run_program({"inspect", directory + "/none"});
  CHECK(has(missing.err, "cannot look at " + seen + "/none"));
  // Damages the state file of the directory.
  std::ofstream{directory + "/checkpoint"} << "model_checkpoint_path: \"\x1b]0;title\x07\xc2\x9b"
                                              "31m\"\n";
  const auto damaged = run_program(project.evaluate({"--model-dir", directory}));
  CHECK_MESSAGE(clean(damaged.out + damaged.err), (damaged.out + damaged.err));
  CHECK_FALSE(has(damaged.out + damaged.err, "\xc2\x9b"));
}

}  // namespace troupe::cli
