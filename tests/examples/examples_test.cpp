// The examples, run as their readers would run them. Under the thread sanitizer, a race in an example makes its exit
// status non-zero.
#include "tests/examples/example_program.hpp"
#include "tests/support/temporary_directory.hpp"

#include <troupe/inspect.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>

namespace troupe::test {

namespace {

/// Inspects `directory`, which must exist and be undamaged.
directory_description report_of(const std::string& directory) {
  const auto seen = inspect(directory);
  REQUIRE_MESSAGE(seen.has_value(), (seen ? "" : to_text(seen.error())));
  CHECK(is_sound(*seen));
  REQUIRE(std::holds_alternative<directory_description>(*seen));
  return std::get<directory_description>(*seen);
}

bool says(const example_program& program, const std::string& text) {
  const bool found = program.text().find(text) != std::string::npos;
  CHECK_MESSAGE(found, "'" << text << "' is not in:\n" << program.text());
  return found;
}

/// The number after `words` in `line`; -1 if they are not there.
int64_t number(const std::string& line, const std::string& words) {
  const auto at = line.find(words);
  return at == std::string::npos ? -1 : std::stoll(line.substr(at + words.size()));
}

/// Asks for the status until `there` is true, for at most a minute.
bool eventually(example_program& service, const std::function<bool(const std::string& line)>& there) {
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::minutes{1};
       std::chrono::steady_clock::now() < end;) {
    service.tell("status");
    std::string line = service.hear();
    while (!line.starts_with("at step ") && !line.empty())
      line = service.hear();  // Skips lines of the job's log.
    if (line.empty() || there(line))
      return !line.empty();
  }
  return false;
}

}  // namespace

TEST_CASE(
    "the embedding example trains while it answers, saves when asked and where it stops, and goes on from there") {
  temporary_directory directory;
  int64_t saved = 0;
  {
    example_program service{{EXAMPLE_EMBED_IN_SERVICE, directory / "model"}};
    CHECK(eventually(service, [](const auto& line) { return number(line, "at step ") > 0; }));
    service.tell("save");
    CHECK(eventually(service, [&](const auto& line) { return (saved = number(line, "saved up to ")) > 0; }));
    service.tell("quit");
    CHECK(service.finish() == 0);
    says(service, "[training] [info] started at step 0: a fresh start");
    says(service, "[training] [info] saved " + (directory / "model/model.ckpt-" + std::to_string(saved)));
    says(service, "stopped at step ");
  }
  const auto left = report_of(directory / "model");
  const auto end = left.newest.value_or(checkpoint_id{-1}).step;
  CHECK(end >= saved);
  example_program again{{EXAMPLE_EMBED_IN_SERVICE, directory / "model"}};
  // The program's loop ends when its input ends.
  CHECK(again.finish() == 0);
  says(again, "started at step " + std::to_string(end) + ": resumed from ");
}

TEST_CASE("the custom model records its scalar and its histogram, and learns") {
  temporary_directory directory;
  example_program program{{EXAMPLE_CUSTOM_MODEL, directory / "model"}};
  CHECK(program.finish() == 0);
  says(program, "finished at step 400, 400 steps");
  const auto accuracy = program.text().find("accuracy = ");
  REQUIRE(accuracy != std::string::npos);
  CHECK(std::stod(program.text().substr(accuracy + 11)) > 0.8);
  bool scalar = false, histogram = false;
  const auto left = report_of(directory / "model");
  for (const auto& name : left.event_files) {
    const auto log = inspect_event_file(directory / "model/" + name);
    REQUIRE(log.has_value());
    for (const auto& t : log->tags) {
      scalar = scalar || (t.tag == "hidden/mean" && t.count == 8);
      histogram = histogram || (t.tag == "logits" && t.count == 8);
    }
  }
  CHECK(scalar);
  CHECK(histogram);
}

TEST_CASE("the example of two heads learns both, and says an order's class in words") {
  temporary_directory directory;
  example_program program{{EXAMPLE_TWO_HEADS, directory / "model"}};
  CHECK(program.finish() == 0);
  const auto at = program.text().find("late/auc ");
  REQUIRE_MESSAGE(at != std::string::npos, program.text());
  CHECK(std::stod(program.text().substr(at + 9)) > 0.8);
  says(program, "the fourth order is paid late");
}

TEST_CASE("two jobs in one program both finish, and their hooks meet on its main thread") {
  temporary_directory directory;
  example_program program{{EXAMPLE_TWO_JOBS, directory / "both"}};
  CHECK(program.finish() == 0);
  CHECK(program.hear().starts_with("deep 0."));
  CHECK(program.hear().starts_with("linear 0."));
  for (const char* name : {"both/deep", "both/linear"})
    CHECK(report_of(directory / name).newest == checkpoint_id{400});
}

TEST_CASE("an experiment is trained by one process and evaluated by another, over one directory") {
  temporary_directory directory;
  const auto run = [&](const std::string& schedule) {
    return std::vector<std::string>{EXAMPLE_EXPERIMENT, schedule, directory / "run"};
  };
  example_program evaluates{run("continuous_eval")};
  example_program trains{run("train")};
  CHECK(trains.finish() == 0);
  says(trains, "train ended at step 300, with 0 exports");
  CHECK(evaluates.finish() == 0);
  says(evaluates, "step 300: accuracy ");
  says(evaluates, "continuous_eval ended at step 300, with 1 exports");
  example_program again{run("local_run")};
  CHECK(again.finish() == 0);
  says(again, "local_run ended at step 300, with 1 exports");
  example_program wrong{run("local")};
  CHECK(wrong.finish() == 1);
  says(wrong, "there is no schedule 'local'");
}

TEST_CASE("a program's own actor hears of the job in its system, and outlives it") {
  temporary_directory directory;
  example_program program{{EXAMPLE_INSIDE_CAF, directory / "model"}};
  CHECK(program.finish() == 0);
  CHECK(program.hear() == "4 checkpoints");  // At the start and every 100 of 300 steps.
}

namespace {

/// A text whose next character follows from a long context, but seldom from only three characters.
std::string counting_rhyme(int verses) {
  std::string text;
  for (int v = 0; v < verses; ++v)
    for (const char* number : {"one", "two", "three", "four"})
      text += std::string{"and "} + number + (v % 2 == 0 ? " green" : " black") + " bottles hanging on the wall\n";
  return text;
}

double bits_after(const example_program& program, const std::string& words) {
  const auto at = program.text().find(words);
  REQUIRE_MESSAGE(at != std::string::npos, "'" << words << "' is not in:\n" << program.text());
  return std::stod(program.text().substr(at + words.size()));
}

}  // namespace

TEST_CASE(
    "both character models learn a rhyme far below the uniform code, go on where they stood, and say what counting "
    "yields") {
  temporary_directory directory;
  std::ofstream{directory / "rhyme"} << counting_rhyme(60);
  for (const std::string model : {"lstm", "transformer"}) {
    CAPTURE(model);
    const auto until = [&](const char* steps) {
      return std::vector<std::string>{EXAMPLE_CHAR_MODEL,
                                      "--model",
                                      model,
                                      "--text",
                                      directory / "rhyme",
                                      "--model-dir",
                                      directory / model,
                                      "--steps",
                                      steps,
                                      "--units",
                                      "32",
                                      "--window",
                                      "24",
                                      "--batch",
                                      "16"};
    };
    example_program first{until("40")};
    CHECK(first.finish() == 0);
    says(first, "characters of 20 kinds");
    const double begun = bits_after(first, "held out: ");
    CHECK(begun < std::log2(20.0));
    CHECK(bits_after(first, "after 40 steps, ") < 1);
    example_program second{until("120")};
    CHECK(second.finish() == 0);
    says(second, "started at step 40, to step 120: resumed from ");
    CHECK(bits_after(second, "held out: ") < 0.8 * begun);
    CHECK(report_of(directory / model).newest == checkpoint_id{120});
  }
}

TEST_CASE("a character model names a text that is not there, one that is too short and a model it does not know") {
  temporary_directory directory;
  std::ofstream{directory / "short"} << "too short";
  for (const auto& [argument, value, said] :
       {std::tuple{"--text", directory / "absent", "absent cannot be opened"},
        {"--text", directory / "short", "short has 9 characters: too few for windows of 64"},
        {"--model", std::string{"oracle"}, "oracle"}}) {
    example_program program{{EXAMPLE_CHAR_MODEL, "--model-dir", directory / "model", argument, value}};
    CHECK(program.finish() > 0);
    says(program, said);
  }
}

TEST_CASE("the example of data of one's own learns a wave, predicts its height and shows what it left") {
  temporary_directory directory;
  example_program program{{EXAMPLE_OWN_DATA, directory / "model"}};
  CHECK(program.finish() == 0);
  const std::string words = "the highest point is ";
  const auto at = program.text().find(words);
  REQUIRE_MESSAGE(at != std::string::npos, program.text());
  CHECK(std::stod(program.text().substr(at + words.size())) == doctest::Approx(1).epsilon(0.1));
  says(program, "loss at step 100: ");
  says(program, "dnn/logits/kernel is [32, 1]");
}

}  // namespace troupe::test
