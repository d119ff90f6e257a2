#include "ensemble/architecture.hpp"

#include "tests/support/refused.hpp"

namespace troupe::test {

namespace {

const architecture foo{.candidate = "foo",
                       .ensembler = "dummy_ensembler_name",
                       .members = {{0, "linear"}, {0, "dnn"}, {1, "dnn"}},
                       .replay_indices = {1, 2},
                       .iteration = 2,
                       .global_step = 100};
const std::string
    foo_text = R"({"ensemble_candidate_name": "foo", "ensembler_name": "dummy_ensembler_name", "global_step": 100, )"
               R"("iteration_number": 2, "replay_indices": [1, 2], "subnetworks": [{"builder_name": "linear", )"
               R"("iteration_number": 0}, {"builder_name": "dnn", "iteration_number": 0}, {"builder_name": "dnn", )"
               R"("iteration_number": 1}]})";

/// The text of `foo` with one part replaced.
std::string foo_with(const std::string& part, const std::string& other) {
  auto text = foo_text;
  return text.replace(text.find(part), part.size(), other);
}

void damaged_foo(const std::string& text, const std::string& names) {
  refused(parse_architecture(text, "architecture-2.json"), errc::data_loss, "architecture-2.json: " + names);
}

}  // namespace

TEST_CASE("[ADA-22.5 architecture] the text of an architecture is exact, and reads back as the same") {
  CHECK(architecture_text(foo) == foo_text);
  const auto read = parse_architecture(foo_text, "architecture-2.json");
  REQUIRE(read);
  CHECK(*read == foo);
}

TEST_CASE("[ADA-22.5 architecture] members are grouped by iteration, in their order: none, one, several of each") {
  using groups = std::map<int64_t, std::vector<std::string>>;
  CHECK(grouped({}).empty());
  CHECK(grouped({.members = {{0, "linear"}}}) == groups{{0, {"linear"}}});
  CHECK(grouped(foo) == groups{{0, {"linear", "dnn"}}, {1, {"dnn"}}});
  CHECK(grouped({.members = {{2, "b"}, {0, "z"}, {2, "a"}}}) == groups{{0, {"z"}}, {2, {"b", "a"}}});
}

TEST_CASE("[ADA-22.5 architecture] replay indices are set by the first winner, and each later one adds its own") {
  using indices = std::vector<int64_t>;
  CHECK(replay_with(std::nullopt, 2) == indices{2});
  architecture won{.replay_indices = {2}};
  CHECK(replay_with(won, 1) == indices{2, 1});
  CHECK_MESSAGE((replay_with(won, 0) == indices{2, 0}), "a previous ensemble that wins again adds 0 (QUIRK-6)");
  won.replay_indices = replay_with(won, 0);
  CHECK(replay_with(won, 3) == indices{2, 0, 3});
}

TEST_CASE("[ADA-22.5 architecture] an architecture without members or replay has empty lists in its text") {
  const architecture empty{.candidate = "all", .ensembler = "mean"};
  CHECK(architecture_text(empty)
        == R"({"ensemble_candidate_name": "all", "ensembler_name": "mean", "global_step": 0, "iteration_number": 0, )"
           R"("replay_indices": [], "subnetworks": []})");
  const auto read = parse_architecture(architecture_text(empty), "architecture-0.json");
  REQUIRE(read);
  CHECK(*read == empty);
}

TEST_CASE("results show the members between bars") {
  CHECK(ensembles_text({.members = {{0, "dnn"}}}) == "| dnn |");
  CHECK(ensembles_text(foo) == "| linear | dnn | dnn |");
}

TEST_CASE("a damaged architecture is refused with file, key and value") {
  damaged_foo("{", "it is no JSON");
  damaged_foo(foo_text + " x", "it is no JSON");
  damaged_foo("[]", "it must be an object, not []");
  damaged_foo(foo_with(R"("global_step": 100, )", ""), "it lacks the key 'global_step'");
  damaged_foo(foo_with(R"("global_step")", R"("a": 1, "global_step")"), "it has the unknown key 'a'");
  damaged_foo(foo_with(R"("global_step")", R"("global_step": 1, "global_step")"),
              "an object has the key \"global_step\" twice");
  damaged_foo(foo_with("100", "1.5"), "global_step must be a whole number of at least 0, not 1.5");
  damaged_foo(foo_with("100", "-1"), "global_step must be a whole number of at least 0, not -1");
  damaged_foo(foo_with("100", "9223372036854775808"), "global_step must be a whole number");
  damaged_foo(foo_with("100", "true"), "global_step must be a whole number of at least 0, not true");
  damaged_foo(foo_with("\"foo\"", "null"), "ensemble_candidate_name must be a text, not null");
  damaged_foo(foo_with("[1, 2]", "[1, \"2\"]"), "replay_indices[1] must be a whole number of at least 0, not \"2\"");
  damaged_foo(foo_with("[1, 2]", "{}"), "replay_indices must be a list, not {}");
  damaged_foo(foo_with(R"("builder_name": "linear")", R"("builder": "linear")"),
              "subnetworks[0] lacks the key 'builder_name'");
  damaged_foo(foo_with(R"("dnn", "iteration_number": 1)", R"("dnn", "iteration_number": 3)"),
              "subnetworks[2].iteration_number must be at most the iteration of the ensemble, 2, not 3");
}

TEST_CASE("a text that nests without end is refused before it costs the stack") {
  damaged_foo(std::string(100'000, '['), "it nests deeper than 64");
  damaged_foo(std::string(64, '[') + std::string(64, ']'), "it must be an object");
  damaged_foo("\"" + std::string(100, '[') + "\"", "it must be an object");
  damaged_foo("\"\\\"" + std::string(100, '[') + "\"", "it must be an object");
}

}  // namespace troupe::test
