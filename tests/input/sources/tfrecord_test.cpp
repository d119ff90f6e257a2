#include "numbered_records.hpp"

#include <thread>

namespace troupe {

namespace {

constexpr compression all_compressions[] = {compression::none, compression::zlib, compression::gzip};

error error_of(const std::vector<std::string>& records, compression how, int64_t good) {
  auto fs = memory_file_system();
  write_records(fs, "0", {numbered_example(0)}, how);
  write_records(fs, "1", records, how);
  auto data = input::tfrecord_dataset(fs, {"0", "1"}, {.features = {{"id", dtype::int64, {}}}, .compression = how});
  REQUIRE(data);
  auto it = iterate(*data);
  int64_t id = 0;
  std::byte* into[] = {reinterpret_cast<std::byte*>(&id)};
  for (int64_t i = 0; i < good; ++i)
    REQUIRE(it->read(into, {}));
  const auto rows = it->read(into, {});
  REQUIRE_FALSE(rows);
  CHECK_FALSE(it->read(into, {}));  // Reading does not continue after the damage.
  return rows.error();
}

}  // namespace

TEST_CASE("examples of several files follow each other, whatever the compression; empty files are passed over") {
  for (const auto how : all_compressions) {
    const auto data = numbered_records({3, 0, 4, 1, 0}, how);
    CHECK(flat(read(data)) == counting(0, 8));
    CHECK(flat(read(data.batch(3, false).repeat(2))).size() == 16);
    CHECK(read(data.batch(3, false)).back() == std::vector<int64_t>{6, 7});
    CHECK(flat(read(data.skip(2).take(4))) == counting(2, 6));
    CHECK(data.to_text() == "tfrecord(0 and 4 more)");
  }
}

TEST_CASE("uncompressed files know their size and are shuffled exactly; compressed ones say that they cannot be") {
  const auto plain = numbered_records({50, 50}, compression::none);
  CHECK(plain.source_size() == 100);
  const auto shuffled = flat(read(plain.shuffle(7)));
  CHECK(shuffled != counting(0, 100));
  CHECK(sorted(shuffled) == counting(0, 100));
  const auto streamed = numbered_records({50, 50}, compression::gzip);
  CHECK_FALSE(streamed.source_size());
  const auto why = refusal(streamed.shuffle(7));
  CHECK(why.category == errc::unimplemented);
  CHECK(names(why, "tfrecord(0 and 1 more)"));
}

TEST_CASE("features and labels arrive sorted by name, with the dtypes and shapes asked for") {
  auto fs = memory_file_system();
  write_records(fs, "f",
                {*encode_example({{{"pixels", byte_strings{"abcdef"}},
                                   {"at", std::vector<float>{1, 2}},
                                   {"label", std::vector<int64_t>{9}}}})},
                compression::none);
  const auto data = input::tfrecord_dataset(
      fs, {"f"},
      {.features = {{"pixels", dtype::uint8, {2, 3}}, {"at", dtype::float32, {2}}},
       .labels = {{"label", dtype::int32, {}}}});
  REQUIRE(data);
  CHECK(
      data->spec()
      == element_spec{{{"at", dtype::float32, {2}}, {"pixels", dtype::uint8, {2, 3}}}, {{"label", dtype::int32, {}}}});
  auto it = iterate(*data);
  float at[2];
  char pixels[6];
  int32_t label = 0;
  std::byte* into[] = {reinterpret_cast<std::byte*>(at), reinterpret_cast<std::byte*>(pixels),
                       reinterpret_cast<std::byte*>(&label)};
  CHECK(it->read(into, {}) == 1);
  CHECK(at[1] == 2);
  CHECK(std::string(pixels, 6) == "abcdef");
  CHECK(label == 9);
}

TEST_CASE("reading goes on from a saved position, across files, in another process too") {
  for (const auto how : all_compressions) {
    auto fs = memory_file_system();
    const auto data = numbered_records({5, 7, 3}, how, fs).batch(2, false).repeat(2);
    auto whole = iterate(data);
    const auto all = read(*whole);
    for (size_t read_before = 0; read_before <= all.size(); ++read_before) {
      CAPTURE(read_before);
      auto first = iterate(data);
      CHECK(read(*first, read_before).size() == read_before);
      const auto state = first->save();
      REQUIRE(state);
      auto second = iterate(data);
      REQUIRE(second->restore(*state));
      CHECK(read(*second) == batches(all.begin() + static_cast<std::ptrdiff_t>(read_before), all.end()));
    }
  }
}

TEST_CASE("a stop reaches records between two of them, also those that are skipped") {
  std::stop_source stop;
  stop.request_stop();
  int64_t id = 0;
  std::byte* into[] = {reinterpret_cast<std::byte*>(&id)};
  auto stream = iterate(numbered_records({5}, compression::gzip).repeat().skip(1'000'000'000));
  const auto skipping = stream->read(into, stop.get_token());
  REQUIRE_FALSE(skipping);
  CHECK(skipping.error().category == errc::cancelled);
  CHECK(names(skipping.error(), "was stopped before record 0 of 0"));
  auto indexed = iterate(numbered_records({5}, compression::none).shuffle(1));
  CHECK(indexed->read(into, stop.get_token()).error().category == errc::cancelled);
  CHECK(indexed->read(into, {}) == 1);
}

TEST_CASE("a state of other files, other features or of no position at all is refused") {
  const auto data = numbered_records({5}, compression::gzip);
  const std::string good = *iterate(data)->save();
  CHECK(iterate(data)->restore(good));
  CHECK(iterate(numbered_records({5, 1}, compression::gzip))->restore(good).error().category == errc::invalid_argument);
  CHECK(iterate(numbered_records({5}, compression::zlib))->restore(good).error().category == errc::invalid_argument);
  const std::string stage = good.substr(0, good.find('\n') + 1);
  for (const char* position : {"", "file 0", "file 0 record", "file 0 record x\n", "file 2 record 0\n",
                               "file -1 record 0\n", "file 0 record -1\n", "file 0 record 0\nmore"})
    CHECK(iterate(data)->restore(stage + position).error().category == errc::invalid_argument);
}

TEST_CASE("a position behind what a file has is an error when reading goes on, and looking for it can be stopped") {
  const auto data = numbered_records({5}, compression::gzip);
  const std::string good = *iterate(data)->save();
  const std::string far = good.substr(0, good.find('\n') + 1) + "file 0 record 9\n";
  auto it = iterate(data);
  REQUIRE(it->restore(far));
  int64_t id = 0;
  std::byte* into[] = {reinterpret_cast<std::byte*>(&id)};
  std::stop_source stop;
  stop.request_stop();
  CHECK(it->read(into, stop.get_token()).error().category == errc::cancelled);
  const auto rows = it->read(into, {});
  REQUIRE_FALSE(rows);
  CHECK(rows.error().category == errc::invalid_argument);
  CHECK(names(rows.error(), "0 has 5 records, and the position is record 9"));
}

TEST_CASE("hosts read every example once between them") {
  for (const auto how : all_compressions) {
    const auto data = numbered_records({5, 6}, how);
    std::vector<int64_t> ids;
    for (int32_t host = 0; host < 3; ++host)
      for (const int64_t id : flat(read(data, {.host = host, .hosts = 3})))
        ids.push_back(id);
    CHECK(sorted(ids) == counting(0, 11));
  }
}

TEST_CASE("two threads read one dataset at once and get the same") {
  const auto data = numbered_records({300, 300}, compression::none).shuffle(1).batch(10);
  batches other;
  std::thread thread{[&] { other = read(data); }};
  const auto here = read(data);
  thread.join();
  CHECK(here.size() == 60);
  CHECK(here == other);
}

TEST_CASE("more files than are held open at once are read in any order") {
  const auto data = numbered_records(std::vector<int64_t>(150, 2), compression::none);
  CHECK(sorted(flat(read(data.shuffle(3)))) == counting(0, 300));
}

TEST_CASE("a bad feature is an error that names file, record, feature, what is there and what was wanted") {
  const auto no_id = *encode_example({{{"x", std::vector<float>{1}}}});
  const auto two_ids = *encode_example({{{"id", std::vector<int64_t>{1, 2}}}});
  for (const auto how : all_compressions) {
    CHECK(error_of({numbered_example(1), no_id}, how, 2).message
          == "1: record 1: feature 'id' is missing, wanted int64[]");
    CHECK(error_of({two_ids}, how, 1).message == "1: record 0: feature 'id' is a list of 2 integers, wanted int64[]");
    CHECK(error_of({"\x0a\x7f"}, how, 1).message == "1: record 0: its 2 bytes are no example");
  }
}

TEST_CASE("what cannot be a dataset is refused when it is opened") {
  auto fs = memory_file_system();
  write_records(fs, "f", {numbered_example(1)}, compression::none);
  const component id{"id", dtype::int64, {}};
  const auto category = [&](std::vector<std::string> paths, tfrecord_options options) {
    const auto data = input::tfrecord_dataset(fs, std::move(paths), std::move(options));
    REQUIRE_FALSE(data);
    return data.error().category;
  };
  CHECK(category({}, {.features = {id}}) == errc::invalid_argument);
  CHECK(category({"f"}, {.features = {}}) == errc::invalid_argument);
  CHECK(category({"f"}, {.features = {id, id}}) == errc::invalid_argument);
  CHECK(category({"f"}, {.features = {{"id", dtype::float64, {}}}}) == errc::invalid_argument);
  CHECK(category({"f"}, {.features = {{"id", dtype::float32, {1, 1, 1, 1, 1, 1, 1, 1}}}}) == errc::invalid_argument);
  CHECK(category({"f"}, {.features = {{"a\nb", dtype::int64, {}}}}) == errc::invalid_argument);
  for (const auto how : all_compressions)
    CHECK(category({"f", "none"}, {.features = {id}, .compression = how}) == errc::not_found);
  write_records(fs, "g", {"x"}, compression::gzip);
  CHECK(category({"g"}, {.features = {id}}) == errc::data_loss);  // The compression is not given.
  CHECK(open_tfrecord({"/nowhere/f"}, {.features = {id}}).error().category == errc::not_found);
}

}  // namespace troupe
