#include "cli/configuration/optimizer_setup.hpp"

#include "cli/configuration/config_file.hpp"

#include <troupe/options/optimizer_fields.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>

namespace troupe::cli {

namespace {

expected<optimizer> made(const std::string& text, std::initializer_list<const char*> more = {}) {
  std::istringstream stream{"[optimizer]\n" + text};
  auto file = parse_config(stream, "my.toml");
  REQUIRE(file);
  std::vector<assignment> set;
  for (const auto* key : more)
    set.push_back(*parse_assignment(key));
  auto all = settings::merge(*file, set, {});
  return all ? make_optimizer(*all) : tl::unexpected{all.error()};
}

std::string text_of(const std::string& text, std::initializer_list<const char*> more = {}) {
  const auto o = made(text, more);
  return o ? to_text(*o) : o.error().message;
}

/// Checks for every alternative that `key` has its name as a choice, and that each of its fields is a key.
template <class... Options>
void check_keys(const std::variant<Options...>&, const std::string& key) {
  const auto& choices = find_key(key)->choices;
  CHECK(choices.size() == sizeof...(Options));
  const auto check = [&](const auto& o) {
    CHECK_MESSAGE(std::count(choices.begin(), choices.end(), name_of(o)) == 1, name_of(o));
    each_field(o, [](const auto& field, const auto&) {
      CHECK_MESSAGE(find_key("optimizer." + std::string{field.name}), field.name);
    });
  };
  (check(Options{}), ...);
}

}  // namespace

TEST_CASE("every rule and schedule can be named, and every field of theirs is a key") {
  check_keys(update_rule{}, "optimizer.name");
  check_keys(learning_rate_schedule{}, "optimizer.schedule");
}

TEST_CASE("sgd is gradient descent, in a file, on the command line and in a group, and is kept under that name") {
  CHECK(text_of("name = \"sgd\"\nrate = 0.5\n") == to_text(gradient_descent{.rate = 0.5f}));
  CHECK(text_of("", {"optimizer.name=sgd"}) == to_text(gradient_descent{}));
  CHECK(text_of("[[optimizer.groups]]\nprefix = \"a\"\nname = \"sgd\"\n")
        == to_text(optimizer{.groups = {{.prefix = "a", .rule = gradient_descent{}}}}));
  const auto all = settings::merge({}, {*parse_assignment("optimizer.name=sgd")}, {});
  REQUIRE(all);
  CHECK(all->given().at("optimizer.name") == "gradient_descent");
}

TEST_CASE("a rule, a schedule and any other choice that is nearly one is told which was meant") {
  const auto ends = [](const std::string& text, const std::string& ending) {
    CHECK_MESSAGE(text_of(text).ends_with(ending), text_of(text));
  };
  ends("name = \"sdg\"\n", "not 'sdg'; did you mean sgd?");
  ends("name = \"SGD\"\n", "not 'SGD'; did you mean sgd?");
  ends("name = \"Adam\"\n", "not 'Adam'; did you mean adam?");
  ends("name = \"gradient_decent\"\n", "not 'gradient_decent'; did you mean gradient_descent?");
  ends("schedule = \"cosin\"\n", "not 'cosin'; did you mean cosine?");
  ends("[[optimizer.groups]]\nprefix = \"a\"\nname = \"ftlr\"\n", "not 'ftlr'; did you mean ftrl?");
  ends("name = \"levenberg\"\n", "not 'levenberg'");
}

TEST_CASE("10,000 groups in a file are read, each with its own rate") {
  std::string text;
  for (int i = 0; i < 10000; ++i)
    text += "[[optimizer.groups]]\nprefix = \"layer_" + std::to_string(i)
            + "/\"\nrate_factor = " + std::to_string(i + 1) + "\n";
  const auto o = made(text);
  REQUIRE(o);
  REQUIRE(o->groups.size() == 10000);
  CHECK(o->groups[9999].prefix == "layer_9999/");
  CHECK(o->groups[9999].rate_factor == 10000);
}

TEST_CASE("without keys the optimizer is Adam with its defaults") { CHECK(text_of("") == to_text(adam{})); }

TEST_CASE("keys reach the rule, the schedule and what surrounds them") {
  CHECK(text_of("name = \"rmsprop\"\nrate = 0.5\nmomentum = 0.25\ncentered = true\n")
        == to_text(rmsprop{.rate = 0.5f, .momentum = 0.25f, .centered = true}));
  CHECK(text_of("schedule = \"cosine\"\ndecay_steps = 100\nwarmup_steps = 10\nclip_global_norm = 1\nweight_decay = "
                "0.01\nfreeze = [\"dnn/a\", \"dnn/b\"]\n",
                {"optimizer.moving_average=0.5", "optimizer.moving_average_ramps=true"})
        == to_text(optimizer{.schedule = cosine_decay{.decay_steps = 100},
                             .warmup_steps = 10,
                             .clip = {.global_norm = 1},
                             .weight_decay = 0.01f,
                             .groups = {{.prefix = "dnn/a", .frozen = true}, {.prefix = "dnn/b", .frozen = true}},
                             .moving_average = 0.5f,
                             .moving_average_ramps = true}));
  CHECK(text_of("reduce = \"sum\"\n") == to_text(optimizer{.reduce = reduction::sum}));
  CHECK(text_of("", {"optimizer.reduce=mean"}) == to_text(optimizer{}));
  CHECK(text_of("reduce = \"product\"\n") == "my.toml:2: optimizer.reduce must be one of mean, sum, not 'product'");
  CHECK(text_of("schedule = \"piecewise\"\nboundaries = [10, 20]\nvalues = [1, 0.5, 0.25]\n")
        == to_text(optimizer{.schedule = piecewise_constant{{10, 20}, {1, 0.5f, 0.25f}}}));
  CHECK(text_of("", {"schedule=piecewise", "boundaries=10", "values=1,0.5"})
        == to_text(optimizer{.schedule = piecewise_constant{{10}, {1, 0.5f}}}));
}

TEST_CASE("groups of variables are listed as tables, behind those that are frozen by their beginnings") {
  CHECK(
      text_of("freeze = [\"embedding\"]\n[[optimizer.groups]]\nprefix = \"dnn\"\nsuffix = \"bias\"\nweight_decay = 0\n"
              "[[optimizer.groups]]\nprefix = \"dnn\"\nrate_factor = 0.5\n",
              {"optimizer.groups[2].suffix=gamma", "optimizer.groups[2].frozen=true"})
      == to_text(optimizer{.groups = {{.prefix = "embedding", .frozen = true},
                                      {.prefix = "dnn", .suffix = "bias", .weight_decay = 0.0f},
                                      {.prefix = "dnn", .rate_factor = 0.5f},
                                      {.suffix = "gamma", .frozen = true}}}));
}

TEST_CASE("a group without variables or without anything to do to them is refused with its place") {
  CHECK(text_of("[[optimizer.groups]]\nrate_factor = 2\n")
        == "my.toml:3: optimizer.groups[0] has neither prefix nor suffix: which variables belong to it?");
  CHECK(text_of("[[optimizer.groups]]\nprefix = \"dnn\"\n")
        == "my.toml:3: optimizer.groups[0] says nothing of its variables: give it rate_factor, weight_decay, "
           "frozen or name");
  CHECK(text_of("", {"optimizer.groups[3].prefix=dnn"})
        == "optimizer.groups[0] has neither prefix nor suffix: which variables belong to it?");
  CHECK(text_of("[[optimizer.groups]]\n") == "my.toml:2: optimizer.groups[0].prefix must be text, not an empty table");
  CHECK(text_of("rate = 0.1\n[[optimizer.groups]]\nprefix = \"dnn\"\nrate_factor = 0\n")
        == "my.toml:5: optimizer.groups[0].rate_factor must be a 32-bit number above 0, not 0");
  CHECK(text_of("", {"optimizer.groups[0].prefix=dnn", "optimizer.groups[0].rate_factor=1e300"})
        == "--set: optimizer.groups[0].rate_factor must be a 32-bit number above 0, not '1e300'");
  CHECK(text_of("groups = 3\n")
        == "my.toml:2: optimizer.groups must be a list of tables, each begun by [[optimizer.groups]], not 3");
}

TEST_CASE("a group may have a rule of its own, with its fields, which are refused where no rule is named") {
  CHECK(text_of("name = \"adagrad\"\nrate = 0.05\n[[optimizer.groups]]\nprefix = \"linear/\"\nname = \"ftrl\"\nrate = "
                "0.2\nl1 = 0.5\n")
        == to_text(optimizer{.rule = adagrad{.rate = 0.05f},
                             .groups = {{.prefix = "linear/", .rule = ftrl{.rate = 0.2f, .l1 = 0.5f}}}}));
  CHECK(text_of("[[optimizer.groups]]\nprefix = \"a\"\nname = \"adamw\"\nweight_decay = 0.5\n")
        == to_text(optimizer{.groups = {{.prefix = "a", .rule = adamw{.weight_decay = 0.5f}, .weight_decay = 0.5f}}}));
  CHECK(text_of("[[optimizer.groups]]\nprefix = \"a\"\nl1 = 0.5\n")
        == "my.toml:4: optimizer.groups[0].l1 is the field of a rule: give optimizer.groups[0].name too");
  CHECK(text_of("[[optimizer.groups]]\nprefix = \"a\"\nname = \"adam\"\nl1 = 0.5\n")
        == "my.toml:5: optimizer.groups[0].l1 belongs to ftrl, proximal_gradient_descent, and "
           "optimizer.groups[0].name is adam");
  CHECK(text_of("[[optimizer.groups]]\nprefix = \"a\"\nname = \"ftlr\"\n")
            .starts_with("my.toml:4: optimizer.groups[0].name must be one of gradient_descent, "));
}

TEST_CASE("weight_decay is that of a rule that has one, and beside any other") {
  CHECK(text_of("name = \"adamw\"\nweight_decay = 0.25\n") == to_text(adamw{.weight_decay = 0.25f}));
  CHECK(text_of("name = \"momentum\"\nweight_decay = 0.25\n")
        == to_text(optimizer{.rule = momentum{}, .weight_decay = 0.25f}));
}

TEST_CASE("a key of another optimizer or schedule is refused, unless a flag has put that one aside") {
  CHECK(text_of("name = \"momentum\"\nbeta1 = 0.5\n")
        == "my.toml:3: optimizer.beta1 belongs to adam, adamw, adamax, amsgrad, lamb, and optimizer.name is momentum");
  CHECK(text_of("name = \"adam\"\ncentered = false\n")
        == "my.toml:3: optimizer.centered belongs to rmsprop, and optimizer.name is adam");
  CHECK(text_of("alpha = 0.5\n")
        == "my.toml:2: optimizer.alpha belongs to cosine, cosine_restarts, and optimizer.schedule is constant");
  CHECK(text_of("beta1 = 0.5\n", {"optimizer.name=momentum"}) == to_text(momentum{}));
  CHECK(text_of("beta1 = 0.5\n", {"optimizer.name=momentum", "optimizer.beta2=0.5"})
            .starts_with("--set: optimizer.beta2 belongs to"));
}

TEST_CASE("values that cannot be right are refused with the place of the rate or the key") {
  CHECK(text_of("rate = -1\n") == "my.toml:2: optimizer.rate must be a 32-bit number above 0, not -1");
  CHECK(text_of("schedule = \"cosine\"\n") == "[optimizer] schedule cosine: decay_steps must be at least 1, not 0");
  CHECK(text_of("schedule = \"linear\"\n")
        == "my.toml:2: optimizer.schedule must be one of constant, exponential, polynomial, piecewise, cosine, "
           "cosine_restarts, inverse_sqrt, not 'linear'");
  CHECK(text_of("values = [\"a\"]\n")
        == "my.toml:2: optimizer.values must be a list of numbers above 0, such as [0.1, 0.01], not a");
  CHECK(text_of("decay_step = 5\n")
        == "my.toml:2: unknown key optimizer.decay_step; did you mean optimizer.decay_steps?");
}

}  // namespace troupe::cli
