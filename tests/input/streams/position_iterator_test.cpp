#include "input/streams/position_iterator.hpp"

#include "counted_new.hpp"
#include "reading.hpp"
#include "tests/support/has.hpp"

namespace troupe {

using test::has;

namespace {

/// Restores the position of `from` in `to`. Returns the error; empty if there is none.
std::string moved(const dataset& from, const dataset& to, const iterate_options& a = {},
                  const iterate_options& b = {}) {
  auto state = iterate(from, a)->save();
  REQUIRE(state);
  auto taken = iterate(to, b)->restore(*state);
  if (!taken)
    CHECK(taken.error().category == errc::invalid_argument);
  return taken ? "" : taken.error().message;
}

}  // namespace

TEST_CASE("a restored iterator continues with the batch that would have come next") {
  const auto data = numbered(17);
  for (const auto& pipeline :
       {data.batch(3), data.shuffle().batch(4).repeat(3), data.shuffle(8).repeat().batch(5).take(12),
        data.skip(2).repeat(2).shuffle().batch(6), data.batch(2).shuffle().repeat(2), data}) {
    CAPTURE(pipeline.to_text());
    const auto all = read(pipeline, {.seed = 3});
    for (size_t cut = 0; cut <= all.size(); ++cut) {
      auto first = iterate(pipeline, {.seed = 3});
      CHECK(read(*first, cut) == batches(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(cut)));
      const auto state = first->save();
      REQUIRE(state);
      auto second = iterate(pipeline, {.seed = 3});
      read(*second, 2);
      REQUIRE(second->restore(*state));
      CHECK(read(*second) == batches(all.begin() + static_cast<std::ptrdiff_t>(cut), all.end()));
    }
  }
}

TEST_CASE("what is lent and what is read are together the batches, and positions lie between them") {
  const auto data = numbered(37);
  const auto lends = [&data](const dataset& pipeline, const iterate_options& options = {}) {
    CAPTURE(pipeline.to_text());
    const auto all = read(pipeline, options);
    auto lending = iterate(pipeline, options), reading = iterate(pipeline, options);
    batches seen;
    int64_t lent = 0;
    for (int64_t turn = 0; seen.size() < all.size(); ++turn) {
      const auto some = lending->lend(1 + turn % 3);
      REQUIRE(some);
      REQUIRE(some->count <= 1 + turn % 3);
      const auto rows = lending->batch_rows();
      for (int64_t i = 0; i < some->count; ++i) {
        const auto part = some->components.at(0).slice(i * rows, rows);
        CHECK(part.dims() == pipeline.spec().features.at(0).dims.prepend(rows));
        const auto ids = part.as<int64_t>();
        seen.emplace_back(ids.begin(), ids.end());
      }
      lent += some->count;
      if (some->count == 0)
        seen.push_back(next(*lending));
      read(*reading, static_cast<size_t>(std::max<int64_t>(1, some->count)));
      CHECK(*lending->save() == *reading->save());
    }
    CHECK(seen == all);
    CHECK(lending->lend(4)->count == 0);
    return lent;
  };
  CHECK(lends(data.batch(4)) == 9);
  CHECK(lends(data.batch(4).repeat(3)) == 27);
  CHECK(lends(data.repeat(3).batch(4)) == 25);  // Of 28, two cross an end of the data, and the last has 3 rows.
  CHECK(lends(data.skip(5).take(20).batch(7)) == 2);
  CHECK(lends(data.batch(40).repeat(2)) == 0);
  CHECK(lends(data.batch(2), {.host = 1, .hosts = 3}) == 6);
  CHECK(lends(data.shuffle().batch(4)) == 0);
  CHECK(lends(data.batch(4).shuffle()) == 0);
  CHECK(lends(data.shard(2, 0).batch(4)) == 0);
  CHECK(lends(data.streams(4).batch(4)) == 0);
  CHECK(lends(data) == 0);
}

TEST_CASE("hosts read every example once in each pass, whatever their number") {
  const auto data = numbered(24).shuffle().batch(2).repeat(2);
  for (int32_t hosts : {1, 2, 3, 4}) {
    std::vector<batches> shares;
    for (int32_t host = 0; host < hosts; ++host)
      shares.push_back(read(data, {.host = host, .hosts = hosts}));
    batches together;
    for (size_t round = 0; round < shares[0].size(); ++round)
      for (const auto& share : shares)
        together.push_back(share.at(round));
    CHECK(together == read(data));
  }
}

TEST_CASE("hosts share batches that cross passes too, and the first ones take what is left over") {
  const auto data = numbered(5).repeat(2).batch(4);
  CHECK(read(data, {.host = 0, .hosts = 2}) == batches{{0, 1, 2, 3}, {3, 4}});
  CHECK(read(data, {.host = 1, .hosts = 2}) == batches{{4, 0, 1, 2}});
}

TEST_CASE(
    "every host saves the same state, and another number of hosts takes it without losing or repeating an example") {
  const auto data = numbered(48).shuffle().batch(2);
  std::vector<std::string> states;
  batches together;
  for (int32_t host = 0; host < 2; ++host) {
    auto it = iterate(data, {.host = host, .hosts = 2});
    for (const auto& one : read(*it, 3))
      together.push_back(one);
    states.push_back(it->save().value());
  }
  CHECK(states[0] == states[1]);
  for (int32_t host = 0; host < 3; ++host) {
    auto it = iterate(data, {.host = host, .hosts = 3});
    REQUIRE(it->restore(states[0]));
    for (const auto& one : read(*it))
      together.push_back(one);
  }
  CHECK(sorted(flat(together)) == counting(0, 48));
}

TEST_CASE("reading a batch allocates nothing, not even the first") {
  const auto data = numbered(1000);
  for (const auto& pipeline :
       {data.batch(300).repeat(), data.shuffle().batch(300).repeat(), data.shuffle().repeat().batch(300),
        data.repeat().batch(3000), data.shuffle().batch(7).shuffle().take(50).repeat()}) {
    CAPTURE(pipeline.to_text());
    auto it = iterate(pipeline);
    std::vector<int64_t> ids(static_cast<size_t>(it->batch_rows()));
    std::byte* into[] = {reinterpret_cast<std::byte*>(ids.data())};
    check_no_allocations(*it, into);
  }
}

TEST_CASE("a host that is not one of the hosts is refused") {
  for (iterate_options options :
       {iterate_options{.host = 2, .hosts = 2}, iterate_options{.host = -1, .hosts = 2}, iterate_options{.hosts = 0}}) {
    const auto e = refusal(numbered(4), options);
    CHECK(e.category == errc::invalid_argument);
    CHECK(names(e, "host " + std::to_string(options.host)));
  }
}

TEST_CASE("the state of another pipeline is refused, naming what differs") {
  const auto data = numbered(20);
  CHECK(has(moved(data.batch(4).take(2), data.batch(5).take(2)),
            "saved by 'batch(4, drop_remainder = false)', here is 'batch(5, drop_remainder = false)'"));
  CHECK(has(moved(data.batch(4).shuffle(3), data.batch(5).shuffle(3)), "here is 'batch(5, drop_remainder = false)'"));
  CHECK(has(moved(data.batch(4), data.batch(4).take(2)), "saved without 'batch(4, drop_remainder = false)'"));
  CHECK(has(moved(data, data.batch(4)), "saved of single examples, here are batches"));
  CHECK(has(moved(data.shuffle(1).batch(4), data.shuffle(2).batch(4)),
            "saved by 'shuffle(seed = 1)', here is 'shuffle(seed = 2)'"));
  CHECK(has(moved(data.batch(4), data.batch(4).repeat()), "saved without 'repeat'"));
  CHECK(has(moved(data.batch(4).repeat(), data.batch(4)), "saved with 'repeat' at its end"));
  CHECK(has(moved(data, numbered(21)),
            "saved by 'tensors of 20 examples: id int64[]', here is 'tensors of 21 examples: id int64[]'"));
  const auto renamed = dataset::from_tensors({{"key", tensor::zeros(dtype::int64, {20})}});
  CHECK(has(moved(data, *renamed), "here is 'tensors of 20 examples: key int64[]'"));
}

TEST_CASE("what the job leaves to a pipeline is part of its state only where it matters") {
  const auto data = numbered(20);
  CHECK(has(moved(data.shuffle(), data.shuffle(), {.seed = 1}, {.seed = 2}), "'shuffle(seed = 1)'"));
  CHECK(
      has(moved(data.batch(3).take(3), data.batch(3).take(3), {}, {.drop_remainder = true}), "drop_remainder = false"));
  CHECK(moved(data.batch(3), data.batch(3), {}, {.drop_remainder = true}) == "");
  CHECK(moved(data.shuffle(5).batch(3, true), data.shuffle(5).batch(3, true), {.seed = 1},
              {.seed = 2, .drop_remainder = true})
        == "");
}

TEST_CASE("the position of batches in order is an example of an epoch: other batches and hosts go on from it") {
  const auto data = numbered(24).shuffle(5);
  const auto examples = flat(read(data.batch(1).repeat(3)));
  for (const int64_t before : {2, 3, 4, 6})
    for (const int64_t after : {1, 2, 4, 12})
      for (const int64_t taken : {0, 12, 24, 36, 60}) {
        CAPTURE(before);
        CAPTURE(after);
        CAPTURE(taken);
        auto first = iterate(data.batch(before).repeat(3));
        read(*first, static_cast<size_t>(taken / before));
        const auto state = first->save();
        REQUIRE(state);
        for (const int32_t hosts : {1, 2}) {
          std::vector<batches> shares;
          for (int32_t host = 0; host < hosts; ++host) {
            auto it = iterate(data.batch(after).repeat(3), {.host = host, .hosts = hosts});
            REQUIRE(it->restore(*state));
            shares.push_back(read(*it));
          }
          std::vector<int64_t> rest;
          for (size_t round = 0; round < shares[0].size(); ++round)
            for (const auto& share : shares)
              if (round < share.size())
                rest.insert(rest.end(), share[round].begin(), share[round].end());
          CHECK(rest == std::vector<int64_t>(examples.begin() + taken, examples.end()));
        }
      }
}

TEST_CASE("a place where no batch begins is refused, naming the sizes that have a boundary there") {
  const auto data = numbered(1000);
  auto it = iterate(data.batch(64).repeat());
  read(*it, 3);  // 192 examples.
  const auto state = it->save();
  REQUIRE(state);
  const auto refused = [&](int64_t size) {
    const auto done = iterate(data.batch(size).repeat())->restore(*state);
    REQUIRE_FALSE(done);
    CHECK(done.error().category == errc::invalid_argument);
    return done.error().message;
  };
  CHECK(has(refused(128), "behind 192 examples of an epoch, where no batch of 128 begins; one of 96 or 192 does"));
  CHECK(has(refused(500), "one of 192 does"));
  CHECK(has(refused(5), "one of 4 or 6 does"));
  CHECK(iterate(data.batch(96).repeat())->restore(*state));
}

TEST_CASE("a position is at most a kilobyte, whatever the number of files") {
  std::string state = iterate(numbered(10).shuffle().batch(2).repeat())->save().value();
  CHECK(state.starts_with("troupe input 2\nnext 0 of epoch 0\ntensors of 10 examples"));
  CHECK_FALSE(has(state, "batch("));
  CHECK(state.size() < 300);
}

TEST_CASE("a refused state leaves the iterator where it was") {
  auto it = iterate(numbered(9).batch(3));
  CHECK(next(*it) == counting(0, 3));
  CHECK_FALSE(it->restore("nonsense"));
  CHECK_FALSE(it->restore("troupe input 2\nnext -4 of epoch 0\ntensors"));
  CHECK_FALSE(it->restore("troupe input 2\nnext 1x\ntensors"));
  CHECK_FALSE(it->restore(""));
  auto single = iterate(numbered(9).repeat(), {.host = 1, .hosts = 2});
  std::string behind_all = single->save().value();
  behind_all.replace(behind_all.find("next 0\n"), 6, "next 9223372036854775807");
  const auto refused = single->restore(behind_all);
  REQUIRE_FALSE(refused);
  CHECK(has(refused.error().message, "no round of 2 hosts begins at 9223372036854775807"));
  CHECK(next(*single) == std::vector<int64_t>{1});
  CHECK(next(*it) == counting(3, 6));
}

}  // namespace troupe
