#include "cli/configuration/keys.hpp"

#include "cli/configuration/command_line.hpp"

#include <troupe/options/run_config_fields.hpp>
#include <troupe/options/spec_fields.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace troupe::cli {

namespace {

std::string help(std::string name) {
  for (size_t at = name.find("[]"); at != std::string::npos; at = name.find("[]"))
    name.insert(at + 1, "0");
  const auto* key = find_key(name);
  REQUIRE_MESSAGE(key, name);
  return help_of(*key);
}

}  // namespace

TEST_CASE("every field of the run configuration and of the specs is a key, with its purpose and its default") {
  each_field(defaults_of<run_config>(), [](const auto& field, const auto& value) {
    const auto* key = find_key("run." + std::string{field.name});
    REQUIRE_MESSAGE(key, field.name);
    CHECK(key->about == field.about);
    const auto standard = option_text(value);
    CHECK_MESSAGE((standard == "none" || key->standard == standard), field.name);
  });
  each_field(defaults_of<eval_spec>(), [](const auto& field, const auto&) {
    CHECK_MESSAGE(find_key("evaluate." + std::string{field.name}), field.name);
  });
  CHECK(find_key("run.max_steps"));
  CHECK(find_key("run.steps"));
  CHECK(find_key("input.epochs"));
}

TEST_CASE("a key is listed once, beside the others of its table, and accepts its own default") {
  std::set<std::string> names, tables;
  std::string table;
  for (const auto& key : known_keys()) {
    CHECK_MESSAGE(names.insert(key.name).second, key.name);
    CHECK_MESSAGE(!key.about.empty(), key.name);
    if (const auto its = key.name.substr(0, key.name.find('.')); its != table) {
      table = its;
      CHECK_MESSAGE(tables.insert(table).second, key.name);
    }
    const auto standard = key.standard.substr(0, key.standard.find(';'));
    CHECK_MESSAGE((standard.empty() || key.name == "evaluate.when" || accepts(key, standard, value_kind::untyped)),
                  key.name);
  }
  CHECK(tables
        == std::set<std::string>{"evaluate", "experiment", "head", "input", "keep_best", "model", "optimizer",
                                 "reduce_on_plateau", "run", "search", "stop_early", "stop_early[]", "warm_start"});
}

TEST_CASE("--help has the defaults that the structs have, and says whose a key is that not all alternatives have") {
  CHECK(help("run.replicas") == "copies of the model that share the work [1]");
  CHECK(help("run.seed") == "of initial values, shuffles and dropout; none: 0");
  CHECK(help("run.save_checkpoints_secs") == "or seconds [600]");
  CHECK(help("input.batch_size") == "examples in a step [128]");
  CHECK(help("optimizer.rate")
        == "the learning rate [0.001; 0.01 for gradient_descent, momentum, adagrad, ftrl, proximal_gradient_descent]");
  CHECK(help("optimizer.centered") == "rmsprop: take the mean gradient off the mean square [false]");
  CHECK(help("optimizer.weight_decay")
        == "share of each variable that is taken off at each step [0; 0.0001 for adamw]");
  CHECK(help("model.layers[].filters") == "conv2d, conv2d_transpose, separable_conv2d: outputs at each place");
  CHECK(help("model.layers[].strides").ends_with("[1; 0 for max_pool, average_pool]"));
  CHECK(help("model.layers[].name").ends_with("its type unless given"));
  CHECK(help("search.strategies").ends_with("(all) [[grow]]"));
  CHECK(help("search.adanet_loss_decay") == "share of the average of adanet_loss that a step keeps [0.9]");
  CHECK(help("search.generator.filters") == "simple_cnn: outputs of the convolution at each place [16]");
  CHECK(help("search.generator.features") == "simple_dnn, linear: only these features; all unless given");
  CHECK(help("search.choose.data").ends_with("[train]"));
  CHECK(help("search.ensemblers[].name") == "what it is called; its kind unless given");
  CHECK(help("search.builders[].optimizer.groups[].l1") == help("optimizer.groups[].l1"));
  CHECK(help("search.builders[].layers[].strides") == help("model.layers[].strides"));
  CHECK(help("head.thresholds").starts_with("binary_head, multi_label_head: probabilities from which on"));
  CHECK(help("head.heads[].weight") == "the factor of its loss in the sum of all [1]");
  CHECK(help("optimizer.groups[].l1")
        == "ftrl, proximal_gradient_descent: strength of the L1 norm's pull towards 0 [0]");
}

TEST_CASE("--help has the flags in 44 lines, --help and a table the keys of that, and --help all has every key once") {
  const auto printed = [](std::vector<std::string> arguments, const std::string& command = "train") {
    const auto line = parse_command_line(command, arguments);
    REQUIRE_MESSAGE(line, (line ? "" : to_text(line.error())));
    REQUIRE(line->help);
    return *line->help;
  };
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const auto times = [](const std::string& text, const std::string& part) {
    int n = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++n;
    return n;
  };
  CHECK(lines(printed({"--help"})) <= 44);
  for (const std::string command : {"evaluate", "predict", "export"})
    CHECK_MESSAGE(lines(printed({"--help"}, command)) <= 50, command);
  const auto all = printed({"--help", "all"});
  CHECK(all.starts_with(printed({"-h"})));
  std::set<std::string> tables;
  for (const auto& key : known_keys()) {
    CHECK_MESSAGE(times(all, "\n  " + key.name + " ") == 1, key.name);
    CHECK_MESSAGE(all.find(help_of(key)) != std::string::npos, key.name);
    tables.insert(key.name.substr(0, key.name.find_first_of(".[")));
  }
  for (const auto& table : key_tables()) {
    const auto text = printed({"--config", "x.toml", "--help=" + std::string{table.name}});
    CHECK(text.starts_with("[" + std::string{table.name} + "]  "));
    CHECK(all.find(text) != std::string::npos);
    CHECK(lines(text) > 1);
    CHECK(printed({"--help", std::string{table.name}}) == text);
    CHECK_MESSAGE(tables.erase(std::string{table.name}) == 1, table.name);
  }
  CHECK(tables.empty());
  const auto unknown = parse_command_line("train", {"--help", "optimiser"});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message == "there is help on all, model, head, optimizer, input, run, evaluate, "
                                   "experiment, stop_early, keep_best, reduce_on_plateau, warm_start, search, "
                                   "and none on 'optimiser'; did you mean optimizer?");
}

TEST_CASE("a list of names accepts each of its choices, with and without brackets, and nothing else") {
  const auto& strategies = *find_key("search.strategies");
  for (const char* right : {"grow", "solo,all", "[all, grow]"})
    CHECK_MESSAGE(accepts(strategies, right, value_kind::untyped), right);
  for (const char* wrong : {"", "[]", "grow,", "grow,shrink", "[grow", "none"})
    CHECK_FALSE_MESSAGE(accepts(strategies, wrong, value_kind::untyped), wrong);
  CHECK_FALSE(accepts(strategies, "grow", value_kind::text));
  CHECK(fits(strategies) == "a list of some of grow, solo, all");
}

TEST_CASE("a key that several alternatives have accepts what one of them accepts") {
  const auto& strides = *find_key("model.layers[0].strides");
  CHECK(accepts(strides, "0", value_kind::integer));
  CHECK_FALSE(accepts(strides, "-1", value_kind::integer));
  CHECK_FALSE(accepts(*find_key("model.layers[0].axes"), "4294967297", value_kind::integer));
}

}  // namespace troupe::cli
