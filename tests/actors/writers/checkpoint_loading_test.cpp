#include "actors/writers/checkpoint_loading.hpp"

#include "support/writer_fixture.hpp"

#include <troupe/graph.hpp>

namespace troupe::test {

namespace {

std::shared_ptr<parameter_store> small_store() {
  graph g;
  g.variable({.name = "b", .dims = {3}});
  g.variable({.name = "a", .dims = {2, 2}});
  auto store = *parameter_store::create(*parameter_layout::of(g, momentum{}), 1);
  store->initialise(1);
  return store;
}
/// The content of a checkpoint of that store.
restored_checkpoint whole() {
  restored_checkpoint c;
  c.prefix = "/m/model.ckpt-9";
  c.content.id.step = 9;
  c.content.tensors = {{"a", tensor::of<float>({2, 2}, {1, 2, 3, 4})}, {"a/Momentum", tensor::of<float>({2, 2}, {5, 6, 7, 8})},
                       {"b", tensor::of<float>({3}, {9, 10, 11})}, {"b/Momentum", tensor::of<float>({3}, {12, 13, 14})},
                       {"global_step", tensor::scalar<int64_t>(9)}};
  return c;
}
tensor value(const parameter_store& store, std::string_view name) { return store.view(0, store.layout().find(name)); }

}  // namespace

TEST_CASE("a checkpoint holds every variable and slot, and the step, by name") {
  const auto store = small_store();
  std::vector<std::string> names;
  const auto layout = layout_of(store);
  for (const auto& c : wanted_tensors({&layout, 1}))
    names.push_back(c.name);
  CHECK(names == std::vector<std::string>{"a", "a/Momentum", "b", "b/Momentum", "global_step"});
}

TEST_CASE("a checkpoint of the model fills the store") {
  const auto store = small_store();
  REQUIRE(load_into(store, whole()));
  CHECK(value(*store, "a") == tensor::of<float>({2, 2}, {1, 2, 3, 4}));
  CHECK(value(*store, "b/Momentum") == tensor::of<float>({3}, {12, 13, 14}));
}

TEST_CASE("a checkpoint that differs lists everything that does") {
  const auto store = small_store();
  auto other = whole();
  other.content.tensors[2].value = tensor::of<float>({2}, {1, 2});
  other.content.tensors.erase(other.content.tensors.begin() + 3);
  other.content.tensors.push_back({"c", tensor::scalar(1.0f)});
  const auto layout = layout_of(store);
  const auto loaded = check_tensors({&layout, 1}, other, true);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().category == errc::failed_precondition);
  for (const char* part : {"/m/model.ckpt-9", "3 variables differ", "b differs: the model wants float32 [3], the checkpoint has float32 [2]",
                           "b/Momentum is missing", "c is unexpected"}) {
    CAPTURE(part);
    CHECK(loaded.error().message.find(part) != std::string::npos);
  }
}

TEST_CASE("a checkpoint that differs changes nothing in the store") {
  const auto store = small_store();
  auto other = whole();
  other.content.tensors[2].value = tensor::of<float>({2}, {1, 2});
  REQUIRE_FALSE(load_into(store, other));
  CHECK(value(*store, "a") == tensor::zeros(dtype::float32, {2, 2}));
}

TEST_CASE("a layout that reads averages has them in place of the variables that have one") {
  graph g;
  g.variable({.name = "b", .dims = {3}});
  g.variable({.name = "a", .dims = {2, 2}});
  auto layout = *parameter_layout::of(g, std::nullopt);
  auto checkpoint = whole();
  checkpoint.content.tensors.push_back({"a/ExponentialMovingAverage", tensor::of<float>({2, 2}, {5, 5, 5, 5})});
  for (const bool averages : {false, true}) {
    if (averages)
      layout.read_averages();
    const auto store = *parameter_store::create(layout, 1);
    REQUIRE(load_into(store, checkpoint));
    CHECK(value(*store, "a") == (averages ? tensor::of<float>({2, 2}, {5, 5, 5, 5}) : tensor::of<float>({2, 2}, {1, 2, 3, 4})));
    CHECK(value(*store, "b") == tensor::of<float>({3}, {9, 10, 11}));
  }
}

TEST_CASE("what the store has no place for is an error only where the models must be the same") {
  const auto store = small_store();
  auto more = whole();
  more.content.tensors.push_back({"head/kernel", tensor::of<float>({1}, {1})});
  const auto layout = layout_of(store);
  CHECK_FALSE(check_tensors({&layout, 1}, more, true));
  CHECK(load_into(store, more));
  CHECK(value(*store, "b") == tensor::of<float>({3}, {9, 10, 11}));
  SUBCASE("what the store wants must be there all the same") {
    more.content.tensors.erase(more.content.tensors.begin());
    const auto loaded = load_into(store, more);
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().message.find("1 variable differs: a is missing") != std::string::npos);
  }
}

}  // namespace troupe::test
