#include "actors/writers/state_parts.hpp"

#include "support/writer_fixture.hpp"

namespace troupe::test {

namespace {

tensor numbers(int64_t count, float first = 0) {
  std::vector<float> v(static_cast<size_t>(count));
  for (float& x : v)
    x = first++;
  return tensor::of<float>({count}, std::span<const float>{v});
}

std::shared_ptr<parameter_store> store_of(const std::map<std::string, int64_t>& variables) {
  graph g;
  for (const auto& [name, count] : variables)
    g.variable({.name = name, .dims = {count}, .trainable = false});
  return *parameter_store::create(*parameter_layout::of(g, std::nullopt), 1);
}

std::vector<state_parts::addressed> all_of(state_parts parts) {
  std::vector<state_parts::addressed> all;
  while (auto next = parts.next().value())
    all.push_back(std::move(*next));
  return all;
}

int64_t bytes_of(const state_part& part) {
  int64_t bytes = 0;
  for (const auto& piece : part.pieces)
    bytes += piece.elements.byte_size();
  return bytes;
}

}  // namespace

TEST_CASE("no part has more bytes than it may, and together they are the whole state") {
  const auto store = store_of({{"a", 10}, {"b", 3}, {"d", 40}});
  const stored_group layout = stored_of(store);
  const std::vector<named_tensor> state{
      {"a", numbers(10)}, {"b", numbers(3, 100)}, {"d", numbers(40, 200)}, {"global_step", tensor::scalar<int64_t>(7)}};
  for (const int64_t bytes : {4, 12, 16, 60, 1000}) {
    CAPTURE(bytes);
    const auto parts = all_of({{&layout, 1}, state, bytes});
    CHECK(static_cast<int64_t>(parts.size()) >= 53 * 4 / bytes);
    for (const auto& p : parts) {
      CHECK(bytes_of(p.part) <= bytes);
      CHECK(bytes_of(p.part) > 0);
      CHECK_FALSE(p.part.initial);
      for (const auto& piece : p.part.pieces)
        REQUIRE(assign_range(*store, piece.name, piece.first, piece.elements));
    }
    for (const auto* t : {&state[0], &state[1], &state[2]})
      CHECK(store->view(0, store->layout().find(t->name)) == t->value);
    store->initialise(0);
  }
}

TEST_CASE("parts share the memory of what was loaded") {
  const auto store = store_of({{"a", 10}});
  const stored_group layout = stored_of(store);
  const auto value = numbers(10);
  const auto parts = all_of({{&layout, 1}, {{"a", value}}, 16});
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].part.pieces.at(0).elements.data() == value.data());
  CHECK(parts[2].part.pieces.at(0).elements.data() == value.data() + 32);
  CHECK(parts[2].part.pieces.at(0).first == 8);
  CHECK(parts[2].part.pieces.at(0).dims == std::vector<int64_t>{10});
}

TEST_CASE("a tensor that has been handed out is held by its parts alone") {
  const auto store = store_of({{"a", 4}, {"b", 4}});
  const stored_group layout = stored_of(store);
  auto memory = numbers(4).buffer();
  const std::weak_ptr<const std::byte> held = memory;
  state_parts parts{{&layout, 1}, {{"a", tensor{dtype::float32, {4}, std::move(memory)}}, {"b", numbers(4)}}, 16};
  REQUIRE(parts.next());
  CHECK(held.expired());
}

TEST_CASE("each tensor goes to the group whose it is, and initial values to each group") {
  const auto one = store_of({{"one/a", 3}, {"one/b", 3}}), two = store_of({{"two/a", 2}});
  const std::vector<stored_group> groups{stored_of(one, 4_group), stored_of(two, 9_group)};
  const auto parts = all_of({groups, {{"one/a", numbers(3)}, {"two/a", numbers(2)}, {"one/b", numbers(3)}}});
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].to == 4_group);
  CHECK(parts[0].part.pieces.size() == 2);
  CHECK(parts[1].to == 9_group);
  CHECK(parts[1].part.pieces.at(0).name == "two/a");

  const auto initial = all_of({groups, uint64_t{11}});
  REQUIRE(initial.size() == 2);
  CHECK(initial[1].to == 9_group);
  CHECK(initial[1].part.initial);
  CHECK(initial[1].part.seed == 11);
  CHECK(initial[1].part.pieces.empty());
}

}  // namespace troupe::test
