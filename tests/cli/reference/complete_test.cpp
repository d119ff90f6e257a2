#include "cli/reference/complete.hpp"

#include "cli/commands/commands.hpp"
#include "cli/configuration/keys.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace troupe::cli {

namespace {

completions_found after(const std::vector<std::string>& words) { return complete(describe_commands(), words); }

std::vector<std::string> texts(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  for (const auto& word : after(words).words)
    all.push_back(word.text);
  return all;
}

using words = std::vector<std::string>;

bool holds(const words& all, const std::string& word) { return std::find(all.begin(), all.end(), word) != all.end(); }

}  // namespace

TEST_CASE("the first word is a command, with its purpose") {
  CHECK(texts({"ev"}) == words{"evaluate"});
  CHECK(after({"ev"}).words.front().about == "evaluates the newest checkpoint, or that of --step or --checkpoint");
  CHECK(texts({""}).size() == command_summaries().size() + 2);
  CHECK(texts({"--v"}) == words{"--version"});
  CHECK(texts({"nothing"}).empty());
  CHECK(texts({"nothing", "--"}).empty());
}

TEST_CASE("a command is completed with its own flags, and with all that its help lists") {
  CHECK(texts({"train", "--max"}) == words{"--max-steps"});
  CHECK(texts({"search", "--max"}) == words{"--max-steps", "--max-iterations", "--max-iteration-steps"});
  CHECK(texts({"serve", "--max"}).empty());
  CHECK(texts({"serve", "--po"}) == words{"--port", "--poll-secs"});
  for (const auto& command : describe_commands()) {
    const auto found = texts({command.name, "-"});
    for (const auto& flag : command.flags)
      CHECK_MESSAGE(holds(found, flag.name), command.name, " ", flag.name);
    CHECK(found.size() == command.flags.size());
  }
}

TEST_CASE("the value of a flag is one of its choices, or a path, in the next word or behind its =") {
  CHECK(texts({"predict", "--format", ""}) == words{"csv", "jsonl", "npy"});
  CHECK(texts({"predict", "--format=n"}) == words{"--format=npy"});
  CHECK(texts({"evaluate", "--step", ""}) == words{"newest", "best"});
  CHECK(texts({"inspect", "--graph", "p"}) == words{"predict"});
  CHECK(texts({"train", "--help", "opt"}) == words{"optimizer"});
  CHECK(after({"train", "--config", "exa"}).paths == path_completion::files);
  CHECK(after({"train", "--model-dir", ""}).paths == path_completion::directories);
  CHECK(after({"train", "--epochs", ""}).paths == path_completion::none);
  CHECK(texts({"train", "--epochs", ""}).empty());
}

TEST_CASE("what has no flag is completed by its place") {
  CHECK(texts({"checkpoints", "v"}) == words{"verify"});
  CHECK(after({"checkpoints", "list", ""}).paths == path_completion::directories);
  CHECK(after({"checkpoints", "--json", "list", ""}).paths == path_completion::directories);
  CHECK(after({"train", "--epochs", "3", ""}).paths == path_completion::directories);
  CHECK(after({"train", "runs/a", ""}).paths == path_completion::none);
  CHECK(after({"inspect", "a", "b", ""}).paths == path_completion::files);
  CHECK(after({"inspect", "--", "--"}).paths == path_completion::files);
  CHECK(texts({"completions", ""}) == words{"bash", "zsh", "fish"});
}

TEST_CASE("--set is completed with every key that has a value, and its purpose") {
  const auto all = texts({"train", "--set", ""});
  size_t keys = 0;
  for (const auto& key : known_keys()) {
    auto name = key.name;
    for (size_t at = name.find("[]"); at != std::string::npos; at = name.find("[]", at))
      name.insert(at + 1, "0");
    CHECK_MESSAGE(holds(all, name + "=") == !key.tables, name);
    keys += !key.tables;
  }
  CHECK(all.size() == keys);
  const auto found = after({"train", "--set", "run.rep"});
  REQUIRE(found.words.size() == 1);
  CHECK(found.words.front().text == "run.replicas=");
  CHECK(found.words.front().about == "copies of the model that share the work");
  CHECK(texts({"train", "--set=run.rep"}) == words{"--set=run.replicas="});
}

TEST_CASE("a key goes on with the numbers that were typed, or with its part behind the dot") {
  CHECK(texts({"train", "--set", "model.layers[12].uni"}) == words{"model.layers[12].units="});
  CHECK(texts({"train", "--set", "evaluate[1].thr"}) == words{"evaluate[1].throttle_secs="});
  CHECK(texts({"train", "--set", "stop_early[0].thr"}) == words{"stop_early[0].threshold="});
  CHECK(texts({"search", "--set", "search.builders[2].layers[1].uni"}) == words{"search.builders[2].layers[1].units="});
  CHECK(texts({"train", "--set", "gradient_shards"}) == words{"gradient_shards="});
  CHECK(texts({"train", "--set", "no_such"}).empty());
}

TEST_CASE("a key's value is one of its choices") {
  CHECK(texts({"train", "--set", "run.recompute="}) == words{"run.recompute=true", "run.recompute=false"});
  CHECK(texts({"train", "--set", "optimizer.name=s"}) == words{"optimizer.name=sgd"});
  CHECK(texts({"train", "--set", "run.seed="}) == words{"run.seed=none"});
  CHECK(texts({"train", "--set", "recompute=t"}) == words{"recompute=true"});
  CHECK(texts({"train", "--set", "model.layers[3].padding=s"}) == words{"model.layers[3].padding=same"});
  CHECK(texts({"search", "--set", "search.strategies=s"}) == words{"search.strategies=solo"});
  CHECK(texts({"search", "--set", "search.ensemblers[0].kind=m"}) == words{"search.ensemblers[0].kind=mean"});
  CHECK(texts({"train", "--set", "input.data="}).empty());
  CHECK(texts({"train", "--set", "no.key="}).empty());
}

TEST_CASE("shells get a line for each word, and a line for paths") {
  CHECK(to_text(after({"train", "--set", "run.rep"})) == "run.replicas=\tcopies of the model that share the work\n");
  CHECK(to_text(after({"train", "--config", ""})) == ":files\n");
  CHECK(to_text(after({"train", ""})) == ":directories\n");
}

}  // namespace troupe::cli
