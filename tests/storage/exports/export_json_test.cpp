#include "storage/exports/export_json.hpp"

#include "tests/storage/exports/export_samples.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"
#include "tests/support/refused.hpp"

namespace troupe {

using test::has;
using test::refused;

namespace {

std::string graph_text() {
  const auto c = sample_export(7);
  return *write_graph_json({c.origin, c.graph, {{"w", 0x0123abcd}}});
}
std::string signature_text() { return *write_signature_json(sample_export(7).signatures, {"batch"}); }
std::string preparation_text() { return *write_preparation_json(sample_export(7).preparation); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(has(text, from));
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("the files of an export are read as they were written, and written again to the same text") {
  const auto c = sample_export(7);
  const auto graph = parse_graph_json(graph_text(), "f");
  REQUIRE_MESSAGE(graph, (graph ? "" : to_text(graph.error())));
  CHECK(graph->origin == c.origin);
  CHECK(graph->graph == c.graph);
  CHECK(graph->checksums == std::map<std::string, uint32_t>{{"w", 0x0123abcd}});
  CHECK(write_graph_json(*graph) == graph_text());
  const auto signatures = parse_signature_json(signature_text(), {"batch"}, "f");
  REQUIRE_MESSAGE(signatures, (signatures ? "" : to_text(signatures.error())));
  CHECK(*signatures == c.signatures);
  CHECK(write_signature_json(*signatures, {"batch"}) == signature_text());
  const auto preparation = parse_preparation_json(preparation_text(), "f");
  REQUIRE_MESSAGE(preparation, (preparation ? "" : to_text(preparation.error())));
  CHECK(*preparation == c.preparation);
  const best_evaluation best{390, {{"loss", 0.5}, {"odd", -std::numeric_limits<double>::infinity()}}};
  CHECK(parse_best_json(*write_best_json(best), "f") == best);
}

TEST_CASE("a file of a later format version, and one of another kind, is refused as what it is") {
  refused(parse_graph_json(replaced(graph_text(), "\"format_version\": 2", "\"format_version\": 3"), "g"),
          errc::unimplemented, "g: format version 3, and this program reads 1 to 2");
  refused(parse_signature_json(replaced(signature_text(), "\"format_version\": 2", "\"format_version\": 3"), {"batch"},
                               "s"),
          errc::unimplemented, "s: format version 3");
  refused(parse_preparation_json(replaced(preparation_text(), "\"format_version\": 2", "\"format_version\": 9"), "p"),
          errc::unimplemented, "p: format version 9");
  refused(parse_graph_json(replaced(graph_text(), "\"format_version\": 2", "\"format_version\": 0"), "g"),
          errc::unimplemented, "g: format version 0");
  refused(parse_best_json(replaced(*write_best_json({1, {}}), "\"format_version\": 1", "\"format_version\": 2"), "b"),
          errc::unimplemented, "b: format version 2, and this program reads 1");
  refused(parse_graph_json(signature_text(), "g"), errc::data_loss, "g: it is not a troupe graph");
  refused(parse_graph_json("[]", "g"), errc::data_loss, "g: it is not a troupe graph");
  refused(parse_graph_json("", "g"), errc::data_loss, "g: ");
}

TEST_CASE("a file that is cut off at any byte is refused") {
  for (const auto& [text, parse] : std::vector<std::pair<std::string, std::function<bool(std::string_view)>>>{
           {graph_text(), [](std::string_view t) { return parse_graph_json(t, "f").has_value(); }},
           {signature_text(), [](std::string_view t) { return parse_signature_json(t, {"batch"}, "f").has_value(); }},
           {preparation_text(), [](std::string_view t) { return parse_preparation_json(t, "f").has_value(); }}}) {
    CHECK(parse(text));
    for (size_t n = 0; n + 2 < text.size(); ++n)  // "}\n" may be missing.
      CHECK_FALSE(parse(std::string_view{text}.substr(0, n)));
  }
}

TEST_CASE("members that are missing, unknown or of another kind are refused by name") {
  const auto graph = [](const std::string& from, const std::string& to) {
    return parse_graph_json(replaced(graph_text(), from, to), "g");
  };
  refused(graph("\"name\":\"w\",", ""), errc::data_loss, "g: nodes[1] lacks the member 'name'");
  refused(graph("\"name\":\"w\",", "\"name\":\"w\",\"more\":1,"), errc::data_loss,
          "nodes[1] has the member 'more', which is not known");
  refused(graph("\"name\":\"w\"", "\"name\":1"), errc::data_loss, "nodes[1].name is not a text");
  refused(graph("\"dtype\":\"int64\"", "\"dtype\":\"int128\""), errc::data_loss,
          "nodes[2].dtype is no dtype: 'int128'");
  refused(graph("\"2*batch\"", "\"2*rows\""), errc::data_loss,
          "nodes[2].shape has the extent '2*rows', which is no unknown of the graph");
  refused(graph("\"2*batch\"", "\"02*batch\""), errc::data_loss, "nodes[2].shape has the extent '02*batch'");
  refused(graph("\"2*batch\"", "-1"), errc::data_loss, "nodes[2].shape is not a whole number from 0");
  refused(graph("[0,1]", "[0,-1]"), errc::data_loss, "nodes[2].inputs is not a whole number from 0");
  refused(graph("0123abcd", "0123ABCD"), errc::data_loss, "checksums.w is not a checksum: '0123ABCD'");
  refused(graph("[\n  \"batch\"\n ]", "[\"batch\",\"batch\"]"), errc::data_loss,
          "the unknown 'batch' cannot have that name, or is there twice");
  refused(graph("\"global_step\": 7", "\"global_step\": 7.5"), errc::data_loss,
          "origin.global_step is not a whole number");
  refused(graph("-3", "18446744073709551615"), errc::data_loss, "nodes[2].count is not a whole number from ");
  refused(parse_signature_json(replaced(signature_text(), "\"node\":0", "\"node\":-1"), {"batch"}, "s"),
          errc::data_loss, "s: serving_default.inputs.x");
  refused(parse_signature_json(signature_text(), {"rows"}, "s"), errc::data_loss,
          "'batch', which is no unknown of the graph");
  refused(parse_preparation_json(replaced(preparation_text(), "\"bag\"", "7"), "p"), errc::data_loss,
          "p: labels.label is not a text");
}

TEST_CASE("a graph has at most 256 unknowns, and more are counted, not looked through") {
  const auto with_unknowns = [](int64_t count) {
    std::string names = "\"batch\"";
    for (int64_t i = 1; i < count; ++i)
      names += ",\"u" + std::to_string(i) + "\"";
    return replaced(graph_text(), "[\n  \"batch\"\n ]", "[" + names + "]");
  };
  const auto most = parse_graph_json(with_unknowns(256), "g");
  REQUIRE_MESSAGE(most, (most ? "" : to_text(most.error())));
  CHECK(write_graph_json(*most));
  refused(parse_graph_json(with_unknowns(1'000'000), "g"), errc::data_loss,
          "g: unknowns are 1000000, and 256 is the most");
  auto more = *most;
  more.graph.unknowns.push_back("one more");
  refused(write_graph_json(more), errc::invalid_argument,
          "the graph has 257 unknowns, and 256 is the most that an export can have");
}

TEST_CASE("names that are not UTF-8 are refused before anything is written") {
  auto c = sample_export(7);
  c.graph.nodes[0].name = "\xff";
  refused(write_graph_json({c.origin, c.graph, {}}), errc::invalid_argument, "a name in graph.json is not UTF-8");
}

}  // namespace troupe
