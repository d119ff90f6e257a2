#include "actors/writers/checkpoint_loading.hpp"

#include "actors/writers/state_parts.hpp"
#include "support/writer_fixture.hpp"
#include "tests/support/has.hpp"

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
checkpoint_content whole() {
  return {.id = {9},
          .tensors = {{"a", tensor::of<float>({2, 2}, {1, 2, 3, 4})},
                      {"a/Momentum", tensor::of<float>({2, 2}, {5, 6, 7, 8})},
                      {"b", tensor::of<float>({3}, {9, 10, 11})},
                      {"b/Momentum", tensor::of<float>({3}, {12, 13, 14})},
                      {"global_step", tensor::scalar<int64_t>(9)}}};
}
std::unique_ptr<checkpoint_reader> reader_of(const checkpoint_content& content) {
  auto store = *checkpoint_store::open(memory_file_system(), "/m");
  REQUIRE(store->commit(content));
  return *store->read_newest();
}
tensor value(const parameter_store& store, std::string_view name) { return store.view(0, store.layout().find(name)); }

}  // namespace

TEST_CASE("a checkpoint holds every variable and slot, and the step, by name") {
  const auto store = small_store();
  std::vector<std::string> names;
  const auto layout = stored_of(store);
  for (const auto& c : wanted_tensors({&layout, 1}))
    names.push_back(c.name);
  CHECK(names == std::vector<std::string>{"a", "a/Momentum", "b", "b/Momentum", "global_step"});
}

TEST_CASE("a checkpoint of the model fills the store") {
  const auto store = small_store();
  REQUIRE(load_into(store, *reader_of(whole())));
  CHECK(value(*store, "a") == tensor::of<float>({2, 2}, {1, 2, 3, 4}));
  CHECK(value(*store, "b/Momentum") == tensor::of<float>({3}, {12, 13, 14}));
}

TEST_CASE("a checkpoint that differs lists everything that does") {
  const auto store = small_store();
  auto other = whole();
  other.tensors[2].value = tensor::of<float>({2}, {1, 2});
  other.tensors.erase(other.tensors.begin() + 3);
  other.tensors.push_back({"c", tensor::scalar(1.0f)});
  const auto layout = stored_of(store);
  const auto loaded = check_tensors({&layout, 1}, reader_of(other)->info(), true);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().category == errc::failed_precondition);
  for (const char* part : {"/m/model.ckpt-9", "3 variables differ",
                           "b differs: the model wants float32 [3], the checkpoint has float32 [2]",
                           "b/Momentum is missing", "c is unexpected"}) {
    CAPTURE(part);
    CHECK(has(loaded.error().message, part));
  }
}

TEST_CASE("a checkpoint that differs changes nothing in the store") {
  const auto store = small_store();
  auto other = whole();
  other.tensors[2].value = tensor::of<float>({2}, {1, 2});
  REQUIRE_FALSE(load_into(store, *reader_of(other)));
  CHECK(value(*store, "a") == tensor::zeros(dtype::float32, {2, 2}));
}

TEST_CASE("a layout that reads averages has them in place of the variables that have one") {
  graph g;
  g.variable({.name = "b", .dims = {3}});
  g.variable({.name = "a", .dims = {2, 2}});
  auto layout = *parameter_layout::of(g, std::nullopt);
  auto checkpoint = whole();
  checkpoint.tensors.push_back({"a/ExponentialMovingAverage", tensor::of<float>({2, 2}, {5, 5, 5, 5})});
  for (const bool averages : {false, true}) {
    if (averages)
      layout.read_averages();
    const auto store = *parameter_store::create(layout, 1);
    REQUIRE(load_into(store, *reader_of(checkpoint)));
    CHECK(value(*store, "a")
          == (averages ? tensor::of<float>({2, 2}, {5, 5, 5, 5}) : tensor::of<float>({2, 2}, {1, 2, 3, 4})));
    CHECK(value(*store, "b") == tensor::of<float>({3}, {9, 10, 11}));
  }
}

TEST_CASE(
    "a growth that drops the rest passes over tensors without a place, and a renamed tensor keeps its value in a scope "
    "of fresh ones") {
  graph g;
  g.variable({.name = "a", .dims = {2, 2}, .trainable = false});
  g.variable({.name = "next/c", .dims = {3}});
  g.variable({.name = "next/d", .dims = {3}});
  const auto groups = std::vector{stored_of(*parameter_layout::of(g, momentum{}))};
  stored_growth growth{.fresh = {"next/"}, .renamed = {{"next/c", "b"}}};
  const auto unlisted = check_growth(groups, growth, reader_of(whole())->info());
  REQUIRE_FALSE(unlisted);
  CHECK(has(unlisted.error().message, "2 variables differ: a/Momentum is unexpected"));
  growth.drops_rest = true;
  CHECK(check_growth(groups, growth, reader_of(whole())->info()));

  state_parts parts{groups, reader_of(whole()), growth, 1};
  std::map<std::string, tensor> taken;
  for (auto next = parts.next(); next && *next; next = parts.next())
    for (const auto& piece : (*next)->part.pieces)
      taken[piece.name] = piece.elements;
  CHECK(taken
        == std::map<std::string, tensor>{{"a", tensor::of<float>({4}, {1, 2, 3, 4})},
                                         {"next/c", tensor::of<float>({3}, {9, 10, 11})}});

  growth.renamed["next/c"] = "e";
  const auto missing = check_growth(groups, growth, reader_of(whole())->info());
  REQUIRE_FALSE(missing);
  CHECK(has(missing.error().message, "1 variable differs: e is missing"));
}

TEST_CASE("what the store has no place for is an error only where the models must be the same") {
  const auto store = small_store();
  auto more = whole();
  more.tensors.push_back({"head/kernel", tensor::of<float>({1}, {1})});
  const auto layout = stored_of(store);
  CHECK_FALSE(check_tensors({&layout, 1}, reader_of(more)->info(), true));
  CHECK(load_into(store, *reader_of(more)));
  CHECK(value(*store, "b") == tensor::of<float>({3}, {9, 10, 11}));
  SUBCASE("what the store wants must be there all the same") {
    more.tensors.erase(more.tensors.begin());
    const auto loaded = load_into(store, *reader_of(more));
    REQUIRE_FALSE(loaded);
    CHECK(has(loaded.error().message, "1 variable differs: a is missing"));
  }
}

TEST_CASE(
    "where the best checkpoint is to be used and is gone, nothing else is loaded in its place, and no initial values") {
  const auto disk = memory_disk::make();
  auto store = *checkpoint_store::open(disk, "/m");
  auto best = whole();
  best.id = {8};
  REQUIRE(store->commit(best));
  REQUIRE(store->commit(whole()));
  REQUIRE(store->add_verdict({9}, {{"best", "8"}, {"use_best", "true"}}));
  const auto parameters = small_store();
  CHECK(load_or_initialise(disk, "/m", {}, 1, parameters)->id == checkpoint_id{8});
  REQUIRE(store->remove(std::vector{checkpoint_id{8}}, true));
  const auto loaded = load_or_initialise(disk, "/m", {}, 1, parameters);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().category == errc::not_found);
  CHECK(has(to_text(loaded.error()), "the newest checkpoint says that the best one, of step 8, is to be used"));
  CHECK(load_or_initialise(disk, "/m", {.step = 9}, 1, parameters)->id == checkpoint_id{9});
}

TEST_CASE(
    "where the newest is damaged, an evaluation loads the next older one whole, and says so; a step that is asked for "
    "is not replaced") {
  const auto disk = memory_disk::make();
  auto store = *checkpoint_store::open(disk, "/m");
  auto older = whole();
  older.id = {8};
  REQUIRE(store->commit(older));
  auto newer = whole();
  for (auto& t : newer.tensors)
    t.value = tensor::zeros(t.value.type(), t.value.dims());
  REQUIRE(store->commit(newer));
  const std::string shard = "/m/model.ckpt-9-00000-of-00001.safetensors";
  auto bytes = read_file(*disk, shard).value();
  // Damages "b/Momentum", the last tensor: all others are read before it.
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  disk->overwrite(shard, bytes);

  const auto parameters = small_store();
  const auto loaded = load_or_initialise(disk, "/m", {}, 1, parameters);
  REQUIRE(loaded);
  CHECK(loaded->id == checkpoint_id{8});
  REQUIRE(loaded->warnings.size() == 1);
  CHECK(has(loaded->warnings[0], "model.ckpt-9 is passed over: " + shard + ": tensor b/Momentum at offset"));
  for (const auto& t : older.tensors)
    if (t.name != global_step_name)
      CHECK(value(*parameters, t.name) == t.value);

  const auto asked = load_or_initialise(disk, "/m", {.step = 9}, 1, parameters);
  REQUIRE_FALSE(asked);
  CHECK(asked.error().category == errc::data_loss);
  CHECK(has(asked.error().message, "tensor b/Momentum"));
}

}  // namespace troupe::test
