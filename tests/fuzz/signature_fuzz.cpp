// The JSON files of an export, but for its graph: signatures, words, and an exporter's best evaluation.
#include "storage/exports/export_json.hpp"
#include "tests/fuzz/target.hpp"

namespace troupe::fuzz {

namespace {

const std::vector<std::string> unknowns{"batch", "length"};

}  // namespace

std::vector<std::string> seeds() {
  const auto batch = extent::of_unknown(0);
  const stored_signatures signatures{
      {"serving_default",
       {{{"x", {0, dtype::float32, {batch, extent{3}}}}},
        {{"class", {7, dtype::int64, {extent::of_unknown(1, 2)}}}, {"p", {9, dtype::float64, {}}}}}},
      {"other", {{}, {{"y", {1, dtype::boolean, {batch}}}}}}};
  std::vector<std::string> all{
      need(write_signature_json(signatures, unknowns)),
      need(write_preparation_json({{{"label", {"coat", "bag"}}}, {{"classes", {"class", {"coat", "bag"}}}}})),
      need(write_best_json({390, {{"loss", 0.25}, {"accuracy", 1}}}))};
  for (const auto& value : {nested("[", "", "]"), nested("{\"a\":", "1", "}")})
    all.push_back(std::string{all[1]}.replace(all[1].find("\"coat\""), 6, value));
  return all;
}

void run(std::string_view input) {
  if (const auto s = parse_signature_json(input, unknowns, "f")) {
    const std::string again = need(write_signature_json(*s, unknowns));
    require(need(parse_signature_json(again, unknowns, "f")) == *s, "signatures are read as they are written");
  }
  if (const auto p = parse_preparation_json(input, "f"))
    require(need(parse_preparation_json(need(write_preparation_json(*p)), "f")) == *p,
            "words are read as they are written");
  if (const auto b = parse_best_json(input, "f")) {
    const std::string again = need(write_best_json(*b));
    require(need(write_best_json(need(parse_best_json(again, "f")))) == again,
            "an evaluation is read as it is written");
  }
}

}  // namespace troupe::fuzz
