#include "reading.hpp"

namespace troupe {

TEST_CASE("a dataset without a source says so when it is read, and so does every stage on top of it") {
  const std::string why = "the dataset has no source: it was made by its default constructor or of a null pointer";
  const dataset none;
  CHECK(none.to_text() == "(no source)");
  CHECK(none.spec() == element_spec{});
  CHECK_FALSE(none.source_size());
  CHECK(refusal(none) == error{errc::invalid_argument, why, {"in (no source)"}});
  CHECK(refusal(dataset{nullptr}).message == why);
  const auto same = [](const example_tensors& e) { return e; };
  for (const auto& made : {none.batch(2), none.shuffle(), none.repeat(), none.take(1), none.skip(1), none.window(2, 1),
                           none.streams(2), none.map("same", same)})
    CHECK(refusal(made).message == why);
  CHECK(refusal(none.shuffle().batch(4)).notes == std::vector<std::string>{"in (no source) -> shuffle -> batch(4)"});
}

TEST_CASE("a dataset that was moved from has no source") {
  dataset from = numbered(3);
  const dataset to = std::move(from);
  CHECK(names(refusal(from.batch(1)), "the dataset has no source"));  // NOLINT(bugprone-use-after-move)
  CHECK(flat(read(to)) == counting(0, 3));
}

}  // namespace troupe
