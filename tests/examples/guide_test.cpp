// The programs of docs/guide, run in an empty folder as their readers would run them.
#include "tests/examples/example_program.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace troupe::test {

namespace {

/// Runs a command line in `directory`, which must exit with `status`. Returns its output.
std::string printed(const temporary_directory& directory, const std::string& command, int status = 0) {
  example_program program{{"sh", "-c", "cd '" + (directory / "") + "' && " + command}};
  CHECK_MESSAGE(program.finish() == status, program.text());
  return program.text();
}

bool says(const std::string& text, const std::string& words) {
  const bool found = text.find(words) != std::string::npos;
  CHECK_MESSAGE(found, "'" << words << "' is not in:\n" << text);
  return found;
}

double number_after(const std::string& text, const std::string& words) {
  return says(text, words) ? std::stod(text.substr(text.find(words) + words.size())) : std::nan("");
}

/// Writes 512 lines AMOUNT,VISITS,LATE: LATE is 1 if the amount exceeds the visits.
void write_orders(const std::string& path) {
  std::ofstream file{path};
  for (int i = 0; i < 512; ++i) {
    const double amount = std::fmod(i * 0.618, 1), visits = std::fmod(i * 0.732, 1);
    file << amount << "," << visits << "," << (amount > visits) << "\n";
  }
}

}  // namespace

TEST_CASE("the guide's first model is trained, asked, exported and called, and trains nothing when run again") {
  temporary_directory directory;
  const auto first = printed(directory, EXAMPLE_GUIDE_FIRST_MODEL " 234");
  says(first, "finished at step 234, 234 steps");
  CHECK(number_after(first, "on half of the pictures: accuracy ") > 0.75);
  says(first, "9 Ankle boot\n");
  says(first, "exported to runs/first/export/latest/");
  says(first, "a black picture is class ");
  says(printed(directory, EXAMPLE_GUIDE_FIRST_MODEL " 234"), "finished at step 234, 0 steps");
}

TEST_CASE("the guide's stages give the elements that its page shows") {
  temporary_directory directory;
  const auto shown = printed(directory, EXAMPLE_GUIDE_DATA_STAGES);
  says(shown, "tensors -> batch(3): 0 1 2 | 3 4 5 | 6 7\n");
  says(shown, "tensors -> batch(3, drop_remainder = true): 0 1 2 | 3 4 5\n");
  says(shown, "tensors -> take(6) -> skip(2): 2 | 3 | 4 | 5\n");
  says(shown, "tensors -> window(3, 2): 0 1 2 | 2 3 4 | 4 5 6\n");
  says(shown, "tensors -> streams(2) -> batch(2): 0 4 | 1 5 | 2 6 | 3 7\n");
  says(shown, "tensors -> map(half) -> batch(8): 0 0 1 1 2 2 3 3\n");
  says(shown, "shuffle follows an endless repeat");
}

TEST_CASE("the guide's readers of orders resume to the bits of one that did not stop, and refuse a wrong line") {
  temporary_directory directory;
  write_orders(directory / "orders.csv");
  const std::string program = EXAMPLE_GUIDE_TRAIN_ORDERS;
  for (const std::string how : {"memory", "stream"}) {
    CAPTURE(how);
    says(printed(directory, program + " stopped-" + how + " 100 " + how), "stopped at step 100, 100 steps");
    says(printed(directory, program + " stopped-" + how + " 0 " + how),
         "resumed from stopped-" + how + "/model.ckpt-100; the data go on where they stood");
    printed(directory, program + " whole-" + how + " 0 " + how);
    const std::string files = how + "/model.ckpt-200-*.safetensors ";
    says(printed(directory, "cmp stopped-" + files + "whole-" + files + "&& echo equal"), "equal");
  }
  std::ofstream{directory / "orders.csv", std::ios::app} << "no order\n";
  says(printed(directory, EXAMPLE_GUIDE_TRAIN_ORDERS, 1), "orders.csv: 'no order' is no order: AMOUNT,VISITS,LATE");
}

TEST_CASE("the guide's graph says its shapes, and which line adds two that do not fit") {
  temporary_directory directory;
  const auto shown = printed(directory, EXAMPLE_GUIDE_GRAPH_SHAPES);
  says(shown, "[batch, 2]");
  says(shown, "invalid\n");
  says(shown, "graph_shapes.cpp:");
}

TEST_CASE("the guide's memory of the run knows the bit before, and one of a single step guesses") {
  temporary_directory directory;
  const auto shown = printed(directory, EXAMPLE_GUIDE_CARRIED_STATE " runs/memory");
  says(shown, "steps 0 to 100: loss ");
  says(shown, "steps 200 to 300: loss ");
  CHECK(number_after(shown, "memory of the run: accuracy ") > 0.95);
  const double guessed = number_after(shown, "memory of the loop: accuracy ");
  CHECK(guessed > 0.3);
  CHECK(guessed < 0.7);
}

TEST_CASE("the guide's own layer and head learn the quantile that was asked for") {
  temporary_directory directory;
  const double covered = number_after(printed(directory, EXAMPLE_GUIDE_OWN_PARTS " runs/parts"), "covered = ");
  CHECK(covered > 0.85);
  CHECK(covered < 0.95);
}

TEST_CASE("the guide's job is ended by its rule, and names the checkpoint of the smallest calibration error") {
  temporary_directory directory;
  const auto shown = printed(directory, EXAMPLE_GUIDE_JUDGE " runs/judge");
  says(shown, "no decrease of calibration_error within 200 steps");
  // The line of each evaluation of unknown events has its error. The best checkpoint has the least.
  double least = 1;
  std::string best;
  std::istringstream lines{shown};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("evaluated step ") && line.find(" for unknown: ") != std::string::npos)
      if (const double e = number_after(line, "calibration_error "); e < least) {
        least = e;
        const auto step = static_cast<int>(number_after(line, "evaluated step "));
        best = "the best is runs/judge/model.ckpt-" + std::to_string(step);
      }
  says(shown, best + "\n");
}

}  // namespace troupe::test
