#include "words/checkpoint_books.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE("books are read as they were written, and what is not said is not written") {
  const checkpoint_books all{.first_step = 7,
                             .finished = true,
                             .rate_factor = 1e-200,
                             .loop = {{3, 5}},
                             .warm_start = "3 tensors of /m",
                             .best = {{{390, 2}, 0.1, true}},
                             .ended = {{"early: the loss: was low", "loss lower than 0.3"}},
                             .left = {{"a/b", {12, "nan_loss: the loss is not finite"}}, {"c", {0, ""}}}};
  const auto written = write_books(all);
  CHECK(written.size() == 13);
  CHECK(read_books(written) == all);
  CHECK(write_books({}).empty());
  CHECK(read_books({}) == checkpoint_books{});
  CHECK(write_books({.finished = false}) == checkpoint_properties{{"finished", "false"}});
}

TEST_CASE("numbers are read as they were written in every locale: nothing but their own text is one") {
  CHECK(read_books({{"rate_factor", "0.5"}}).rate_factor == 0.5);
  // A reader that follows the locale would take the first three.
  for (const char* text : {" 0.5", "0x1p-1", "+0.5", "0,5", "0.5 ", ""})
    CHECK_FALSE(read_books({{"rate_factor", text}}).rate_factor);
}

TEST_CASE("loops that cannot be are passed over") {
  for (const auto& [begins, steps] : {std::pair{"3", "0"}, {"-1", "5"}, {"3", "x"}})
    CHECK_FALSE(read_books({{"loop_begins", begins}, {"loop_steps", steps}}).loop);
  CHECK_FALSE(read_books({{"loop_begins", "3"}}).loop);
}

TEST_CASE("the properties of checkpoints that were written before are read") {
  const auto books = read_books({{"best", "10"},
                                 {"best_value", "0.25"},
                                 {"use_best", "true"},
                                 {"left/b", "12 nan_loss: x"},
                                 {"finished", "true"},
                                 {"first_step", "3"},
                                 {"rate_factor", "0.5"},
                                 {"ended", "early: so"},
                                 {"ended_by", "mine"},
                                 {"model", "m"}});
  CHECK(books.best == checkpoint_books::best_checkpoint{{10}, 0.25, true});
  CHECK(books.left == std::map<std::string, checkpoint_books::departure>{{"b", {12, "nan_loss: x"}}});
  CHECK(books.finished == true);
  CHECK(books.first_step == 3);
  CHECK(books.rate_factor == 0.5);
  CHECK(books.ended == checkpoint_books::end_by_rule{"early: so", "mine"});
}

TEST_CASE("text that books do not contain is passed over") {
  CHECK(read_books({{"finished", "perhaps"},
                    {"rate_factor", "fast"},
                    {"best", "ten"},
                    {"ended", "early: by nobody"},
                    {"other", "x"}})
        == checkpoint_books{});
  for (const std::string factor : {"0", "-1", "nan", "inf", "0.5x", ""})
    CHECK_FALSE(read_books({{"rate_factor", factor}}).rate_factor);
  CHECK_FALSE(read_books({{"best", "10"}, {"best_value", "low"}}).best->value);
  CHECK_FALSE(read_books({{"best", "10"}, {"use_best", "yes"}}).best->in_use);
  CHECK(read_books({{"left/a", ""}}).left.at("a") == checkpoint_books::departure{0, ""});
}

}  // namespace troupe::test
