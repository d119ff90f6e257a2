#include "ensemble/search_books.hpp"
#include "tests/fuzz/target.hpp"

namespace troupe::fuzz {

std::vector<std::string> seeds() {
  const architecture first{"a_grow", "mean", {{0, "a"}}, {0}, 0, 100};
  search_books books{.begins_at = 100, .tick = 150, .global_step = 140};
  books.subnetworks = {{"a", 30, spec_stop{stop_cause::end_of_input, 30, "bag"}}, {"b", 50}};
  books.candidates = {{{"t0_a_grow_mean", first}, {.5f, .25f, 9}},
                      {{"t1_b_grow_mean", {"b_grow", "mean", {{0, "a"}, {1, "b"}}, {}, 1, 0}},
                       {},
                       spec_stop{stop_cause::dropped, 20, "it reads t1_b"}}};
  books.winners = {{"t0_a_grow_mean", 0, first, {.5f, .25f, 9}}};
  books.reports = {{{.iteration = 0, .name = "a", .hparams = {{"rate", .1}, {"odd", "\xff"}}, .included = true}}};
  return {books_text({}),       books_text(books),          architecture_text(first), reports_text(books.reports),
          nested("[", "", "]"), nested("{\"a\":", "1", "}")};
}

void run(std::string_view input) {
  if (const auto read = parse_books(input, "f")) {
    const auto again = parse_books(books_text(*read), "f");
    require(again.has_value() && books_text(*again) == books_text(*read), "books are written and read again");
    for (const auto& file : derived_files(*read))
      require(!file.path.starts_with("/") && file.path.find("/../") == std::string::npos, "files stay in their folder");
    static_cast<void>(contenders_of(*read));
  } else {
    require(!read.error().message.empty(), "an error says something");
  }
  if (const auto read = parse_architecture(input, "f"))
    require(parse_architecture(architecture_text(*read), "f") == *read, "an architecture is read again");
  if (const auto read = parse_reports(input, "f"))
    require(reports_text(*parse_reports(reports_text(*read), "f")) == reports_text(*read), "reports are read again");
}

}  // namespace troupe::fuzz
