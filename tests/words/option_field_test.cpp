#include <troupe/options/metric_goal_fields.hpp>
#include <troupe/options/run_config_fields.hpp>
#include <troupe/options/spec_fields.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>

namespace troupe {

namespace {

enum class shade : uint8_t { light, dark };

struct paint {
  int64_t coats = 2;
  double gloss = 0.5;
  float share = 0.1f;
  bool wet = false;
  uint64_t number = 7;
  std::string name = "plain";
  std::optional<std::string> maker = {};
  std::optional<int64_t> price = {};
  shade tone = shade::dark;
  std::vector<int64_t> layers = {};
  std::array<int64_t, 2> size{3, 3};
  int64_t colour = 1;
};

/// Options whose table includes that of a member.
struct fence {
  metric_goal goal = {};
  int64_t posts = 3;
};

std::string refused(const paint& p) {
  const auto right = check_fields(p, "paint: ");
  return right ? "" : right.error().message;
}

template <class T>
std::string again(std::string_view text) {
  T value{};
  return parse_option(text, value) ? option_text(value) : "not parsed";
}

template <class Options>
size_t rows() {
  return std::tuple_size_v<std::remove_const_t<decltype(option_fields<Options>::all)>>;
}

}  // namespace

template <>
struct option_choices<shade> {
  static constexpr std::pair<std::string_view, shade> all[] = {{"light", shade::light}, {"dark", shade::dark}};
};
template <>
struct option_fields<fence> {
  static constexpr std::tuple all{option_part{&fence::goal, "evaluation"},
                                  option_field{"posts", &fence::posts, "how many", field_range::at_least(1)}};
};
template <>
struct option_fields<paint> {
  static constexpr std::tuple all{
      option_field{"coats", &paint::coats, "how many", field_range::between(1, 1 << 20)},
      option_field{"gloss", &paint::gloss, "how bright", field_range::above_number(0)},
      option_field{"share", &paint::share, "how thin", field_range::fraction()},
      option_field{"wet", &paint::wet, "whether it is"},
      option_field{"number", &paint::number, "which"},
      option_field{"name", &paint::name, "its name"},
      option_field{"maker", &paint::maker, "who makes it"},
      option_field{"price", &paint::price, "what it costs", field_range::at_least(0)},
      option_field{"tone", &paint::tone, "how dark"},
      option_field{"layers", &paint::layers, "of what", field_range::at_least(1)},
      option_field{"size", &paint::size, "of a tin", field_range::at_least(1)},
      option_field{"colour", &paint::colour, "of no effect yet", field_range::at_least(0), false}};
};

TEST_CASE("a range has its bounds or not, and neither NaN nor, unless it says so, infinity") {
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(field_range::at_least(1).has(1));
  CHECK_FALSE(field_range::above_number(1).has(1));
  CHECK(field_range::fraction().has(0));
  CHECK_FALSE(field_range::fraction().has(1));
  CHECK(field_range::between(1, 4).has(4));
  CHECK(field_range::at_most(0).has(-1e300));
  for (const auto& range :
       {field_range::finite(), field_range::at_least(0), field_range::at_most(0), field_range::above_number(0)}) {
    CHECK_FALSE(range.has(inf));
    CHECK_FALSE(range.has(-inf));
    CHECK_FALSE(range.has(std::nan("")));
  }
  CHECK(field_range::at_least(0).or_infinite().has(inf));
  CHECK_FALSE(field_range::at_least(0).or_infinite().has(std::nan("")));
  CHECK(to_text(field_range::between(1, 1 << 20)) == "in [1, 1048576]");
  CHECK(to_text(field_range::fraction()) == "in [0, 1)");
  CHECK(to_text(field_range::above_number(0)) == "above 0");
  CHECK(to_text(field_range::at_most(-0.5)) == "at most -0.5");
  CHECK(to_text(field_range::finite()) == "finite");
}

TEST_CASE("values of every type are read from their own text, and others are not read") {
  CHECK(again<int64_t>("-9223372036854775808") == "-9223372036854775808");
  CHECK(again<int64_t>("9223372036854775808") == "not parsed");
  CHECK(again<int32_t>("4294967297") == "not parsed");
  CHECK(again<int32_t>("7 ") == "not parsed");
  CHECK(again<uint64_t>("18446744073709551615") == "18446744073709551615");
  CHECK(again<uint64_t>("-1") == "not parsed");
  CHECK(again<double>("0.1") == "0.1");
  CHECK(again<double>("0.3333333333333333") == "0.3333333333333333");
  CHECK(again<double>("1048576") == "1048576");
  CHECK(again<float>("3e-4") == "0.0003");
  CHECK(again<float>("1e300") == "inf");
  CHECK(again<float>("-1e300") == "-inf");
  CHECK(again<bool>("true") == "true");
  CHECK(again<bool>("yes") == "not parsed");
  CHECK(again<std::optional<int64_t>>("none") == "none");
  CHECK(again<std::optional<int64_t>>("5") == "5");
  CHECK(again<setting<double>>("none") == "none");
  CHECK(again<shade>("light") == "light");
  CHECK(again<shade>("grey") == "not parsed");
  CHECK(again<std::vector<int64_t>>("[256, 128]") == "[256, 128]");
  CHECK(again<std::vector<int64_t>>("256,") == "not parsed");
  CHECK(again<std::vector<double>>("") == "[]");
  CHECK(again<std::vector<std::string>>("shirt, bag") == "[shirt, bag]");
  CHECK(again<std::vector<std::string>>("shirt,,bag") == "not parsed");
  CHECK(again<std::array<int64_t, 2>>("3") == "3");
  CHECK(again<std::array<int64_t, 2>>("3,5") == "[3, 5]");
  CHECK(again<std::array<int64_t, 2>>("3,5,7") == "not parsed");
}

TEST_CASE(
    "a value outside of its field's range is refused with the field, the range and the value; a default never is") {
  CHECK(refused({}) == "");
  CHECK(refused({.coats = 0}) == "paint: coats must be in [1, 1048576], not 0");
  CHECK(refused({.coats = 4294967297}) == "paint: coats must be in [1, 1048576], not 4294967297");
  CHECK(refused({.gloss = 0}) == "paint: gloss must be above 0, not 0");
  CHECK(refused({.gloss = std::nan("")}) == "paint: gloss must be above 0, not nan");
  CHECK(refused({.gloss = INFINITY}) == "paint: gloss must be finite, not inf");
  CHECK(refused({.share = 1}) == "paint: share must be in [0, 1), not 1");
  CHECK(refused({.maker = ""}) == "paint: maker must not be ''");
  CHECK(refused({.name = ""}) == "");
  CHECK(refused({.price = -3}) == "paint: price must be at least 0, not -3");
  CHECK(refused({.layers = {3, 0}}) == "paint: layers[1] must be at least 1, not 0");
  CHECK(refused({.size = {1, 0}}) == "paint: size must be at least 1, not 0");
}

TEST_CASE("a field without effect is refused as unimplemented unless it has its default") {
  const auto right = check_fields(paint{.colour = 2});
  REQUIRE_FALSE(right);
  CHECK(right.error() == error{errc::unimplemented, "colour has no effect yet: it must be left at 1, not 2"});
}

TEST_CASE("what a field accepts follows from its type and its range, and is told in words") {
  std::map<std::string, option_values> values;
  each_field(defaults_of<paint>(), [&values]<class T>(const auto& field, const T&) {
    values[std::string{field.name}] = values_of<T>(field.range);
  });
  CHECK(to_text(values["coats"]) == "a whole number in [1, 1048576]");
  CHECK(to_text(values["gloss"]) == "a number above 0");
  CHECK(to_text(values["share"]) == "a 32-bit number in [0, 1)");
  CHECK(to_text(values["price"]) == "a whole number of at least 0, or \"none\"");
  CHECK(to_text(values["tone"]) == "one of light, dark");
  CHECK(to_text(values["maker"]) == "text, or \"none\"");
  CHECK(to_text(values["size"]) == "a whole number of at least 1, or two of them, such as [3, 5]");
  CHECK(values["coats"].accept("1048576"));
  CHECK_FALSE(values["coats"].accept("1048577"));
  CHECK_FALSE(values["coats"].accept("none"));
  CHECK(values["price"].accept("none"));
  CHECK_FALSE(values["name"].accept(""));
  CHECK(values["layers"].accept(""));
  CHECK_FALSE(values["layers"].accept("1,0"));
  CHECK_FALSE(values["size"].accept(""));
  CHECK_FALSE(values["tone"].accept("grey"));
}

TEST_CASE(
    "every member of the run configuration and of the specs has a row, but for data and hooks, each with a purpose of "
    "its own") {
  // These bindings do not compile with a new member until it is counted here.
  [[maybe_unused]] const auto& [c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19,
                                c20, c21, c22, c23, c24, c25, c26, c27] = defaults_of<run_config>();
  CHECK(rows<run_config>() == 27);
  [[maybe_unused]] const auto& [t1, t2, t3, t4, t5, t6, input_of_train, hooks, listeners, rules,
                                best] = defaults_of<train_spec>();
  CHECK(rows<train_spec>() == 6);
  [[maybe_unused]] const auto& [e1, e2, e3, e4, e5, e6, e7, e8, e9, input_of_eval, hooks_of_eval, listener_of_eval,
                                exporters, exports_like] = defaults_of<eval_spec>();
  CHECK(rows<eval_spec>() == 9);
  [[maybe_unused]] const auto& [p1, p2, p3, p4, p5, p6, input_of_predict,
                                hooks_of_predict] = defaults_of<predict_spec>();
  CHECK(rows<predict_spec>() == 6);
  std::set<std::string_view> names, purposes;
  each_field(defaults_of<run_config>(), [&](const auto& field, const auto&) {
    CHECK_MESSAGE(names.insert(field.name).second, field.name);
    CHECK_MESSAGE((!field.about.empty() && purposes.insert(field.about).second), field.name);
  });
}

TEST_CASE("the rows of a part are rows of its owner, but for the one that is left out") {
  fence f{.goal = {.metric = "height"}, .posts = 0};
  std::map<std::string, std::string> values;
  each_field(f,
             [&](const field_row& field, const auto& value) { values[std::string{field.name}] = option_text(value); });
  CHECK(values
        == std::map<std::string, std::string>{{"metric", "height"}, {"posts", "0"}, {"smaller_is_better", "true"}});
  each_field(f, [&](const field_row& field, auto& value) {
    if (field.name == "smaller_is_better")
      CHECK(parse_option("false", value));
  });
  CHECK_FALSE(f.goal.smaller_is_better);
  CHECK(check_fields(f, "fence: ").error().message == "fence: posts must be at least 1, not 0");
}

TEST_CASE("a value is better by more than the margin, in the direction of the goal, and NaN never is") {
  const metric_goal less{}, more{.metric = "accuracy", .smaller_is_better = false};
  CHECK(less.is_better(1, 2));
  CHECK_FALSE(less.is_better(2, 2));
  CHECK_FALSE(less.is_better(1.5, 2, 0.5));
  CHECK(more.is_better(2, 1));
  CHECK_FALSE(more.is_better(1.5, 1, 0.5));
  for (const auto& goal : {less, more}) {
    CHECK_FALSE(goal.is_better(std::nan(""), 1));
    CHECK_FALSE(goal.is_better(1, std::nan("")));
  }
}

TEST_CASE("defaults of all options are within their own ranges") {
  CHECK(check_fields(defaults_of<run_config>()));
  CHECK(check_fields(defaults_of<train_spec>()));
  CHECK(check_fields(defaults_of<eval_spec>()));
  CHECK(check_fields(defaults_of<predict_spec>()));
}

}  // namespace troupe
