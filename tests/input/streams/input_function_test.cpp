#include "input/streams/input_function.hpp"

#include "reading.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe {

using test::has;

namespace {

input_context second_of_two(int64_t batch_size = 4) {
  return {.batch_size = batch_size, .deployment = {.host = 1, .index = 1, .total = 2}, .hosts = 2, .replicas = 2};
}

dataset sharded(int64_t count = 24) {
  return from_input_function({.batch_size = 8, .name = "numbers"}, [count](const input_context& c) {
    return numbered(count).shard(c.deployment.total, c.deployment.index).batch(c.batch_size);
  });
}

error error_of(const dataset& function) {
  const auto made = deployed(function, second_of_two());
  REQUIRE_FALSE(made);
  return made.error();
}

}  // namespace

TEST_CASE("an input function is called with its context, and what it returns is read whole") {
  const auto made = deployed(sharded(), second_of_two());
  REQUIRE(made);
  const batches odd{{1, 3, 5, 7}, {9, 11, 13, 15}, {17, 19, 21, 23}};
  CHECK(read(*made) == odd);
  CHECK(read(*made, {.host = 1, .hosts = 2}) == odd);
}

TEST_CASE("the only input of a function is divided among readers as any dataset is") {
  const auto made = deployed(sharded(), {.batch_size = 8});
  REQUIRE(made);
  CHECK(read(*made, {.host = 1, .hosts = 2}) == batches{counting(8, 16)});
}

TEST_CASE("any other dataset is deployed as it is") {
  const auto plain = numbered(8).batch(2);
  CHECK(deployed(plain, second_of_two(3))->last_stage() == plain.last_stage());
  CHECK(input_function_of(plain) == nullptr);
  CHECK(input_function_of(sharded())->batch_size == 8);
}

TEST_CASE("the position of an input is refused in any other context, naming both") {
  const auto it = iterate(*deployed(sharded(), second_of_two()));
  next(*it);
  const auto position = it->save();
  REQUIRE(position);
  const auto same = iterate(*deployed(sharded(), second_of_two()));
  REQUIRE(same->restore(*position));
  CHECK(next(*same) == next(*it));
  auto others = std::vector<input_context>(4, second_of_two());
  others[0].replicas = 4;
  others[1].hosts = 1;
  others[2].deployment.index = 0;
  others[3].deployment.replicas = 2;
  for (const auto& c : others) {
    const auto refused = iterate(*deployed(sharded(), c))->restore(*position);
    REQUIRE_FALSE(refused);
    CHECK(has(refused.error().message,
              "saved by 'numbers: train, batch_size 4, input 1 of 2 on host 1 of 2, for 1 of 2 replicas', here is"));
  }
  CHECK_FALSE(iterate(numbered(8).batch(4))->restore(*position));
  CHECK_FALSE(same->restore("numbers"));
}

TEST_CASE("batches of another size than the context asks for are refused") {
  const auto wrong = from_input_function({.batch_size = 8}, [](const input_context&) { return numbered(8).batch(8); });
  const auto refused = refusal(*deployed(wrong, second_of_two()));
  CHECK(refused.category == errc::invalid_argument);
  CHECK(has(refused.message, "batch_size 4, input 1 of 2"));
  CHECK(has(refused.message, "its batches have 8 rows: use batch(context.batch_size)"));
}

TEST_CASE("errors and exceptions of an input function name it and the input") {
  const auto thrown = error_of(from_input_function(
      {.name = "logs"}, [](const input_context&) -> expected<dataset> { throw std::runtime_error("no disk"); }));
  CHECK(has(thrown.message, "no disk"));
  CHECK(has(thrown.message, "the input function 'logs' (train, batch_size 4, input 1 of 2"));
  const auto returned = error_of(from_input_function(
      {}, [](const input_context&) -> expected<dataset> { return fail(errc::out_of_range, "no files"); }));
  CHECK(returned.category == errc::state);  // The data have not ended.
  CHECK(has(returned.message, "no files"));
}

TEST_CASE("an input function without function, rows or a name is refused, and so are stages after it") {
  const auto any = [](const input_context&) { return numbered(8).batch(8); };
  CHECK(has(error_of(from_input_function({}, {})).message, "is empty"));
  CHECK(has(error_of(from_input_function({.batch_size = 0}, any)).message, "batch_size must be at least 1, not 0"));
  CHECK(error_of(from_input_function({.name = ""}, any)).category == errc::invalid_argument);
  CHECK(error_of(from_input_function({.name = "a\nb"}, any)).category == errc::invalid_argument);
  const auto nested = from_input_function({}, [](const input_context&) { return sharded(); });
  CHECK(has(error_of(nested).message, "returned an input function"));
  for (const auto& after : {sharded().repeat(), sharded().shuffle().batch(2), sharded().take(3), sharded().shard(2, 0)})
    CHECK(has(refusal(after).message, "follows an input function: put it into the function"));
}

TEST_CASE("without a job an input function describes the data of one input of one replica") {
  const auto function = sharded();
  CHECK(function.spec() == numbered(1).spec());
  CHECK(function.to_text() == "input function 'numbers' of 8 rows a step");
  CHECK_FALSE(function.source_size());
  CHECK(read(function) == read(numbered(24).batch(8)));
}

}  // namespace troupe
