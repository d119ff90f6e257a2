#include "storage/examination/examination.hpp"

#include "storage/checkpoints/state_file.hpp"
#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/safetensors.hpp"
#include "storage/events/event_log.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

#include <atomic>
#include <thread>

namespace troupe {

namespace {

constexpr auto manifest_1 = "/m/model.ckpt-1.manifest.json", shard_1 = "/m/model.ckpt-1-00000-of-00001.safetensors";

struct examined_directory {
  std::shared_ptr<memory_disk> disk = memory_disk::make();
  std::unique_ptr<checkpoint_store> store = open_store(disk);

  checkpoint_description look(int64_t step, inspect_options options = {}) {
    auto description = examine_checkpoint(*disk, "/m", {step}, options);
    REQUIRE_MESSAGE(description, (description ? "" : to_text(description.error())));
    return *description;
  }
  directory_description look_around(inspect_options options = {}) {
    auto description = examine_directory(*disk, "/m", options);
    REQUIRE_MESSAGE(description, (description ? "" : to_text(description.error())));
    return *description;
  }
  void rewrite(const std::string& path, const std::function<void(std::string&)>& change) {
    auto bytes = *read_file(*disk, path);
    change(bytes);
    disk->overwrite(path, bytes);
  }
};

std::vector<std::string> names_of(const std::vector<tensor_description>& tensors) {
  std::vector<std::string> names;
  for (const auto& t : tensors)
    names.push_back(t.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE_FIXTURE(examined_directory,
                  "a whole checkpoint is told with every tensor, its checksum and, on request, its bytes") {
  commit(*store, 1);
  const auto r = look(1, {.values = true});
  CHECK(r.path == "/m/model.ckpt-1");
  CHECK(r.id == checkpoint_id{1});
  CHECK(r.wall_time == sample(1).wall_time);
  CHECK(r.verified);
  CHECK(r.damages.empty());
  CHECK(r.files == std::vector<std::string>{"model.ckpt-1.manifest.json", "model.ckpt-1-00000-of-00001.safetensors"});
  CHECK(r.bytes == disk->info(manifest_1)->size + disk->info(shard_1)->size);
  CHECK(r.properties == sample(1).properties);
  const auto content = sample(1);
  REQUIRE(r.tensors.size() == content.tensors.size());
  for (size_t i = 0; i < r.tensors.size(); ++i) {
    const auto& t = r.tensors[i];
    const auto& value = content.tensors[i].value;
    const std::string bytes{reinterpret_cast<const char*>(value.data()), static_cast<size_t>(value.byte_size())};
    CHECK(t.name == content.tensors[i].name);
    CHECK(t.dtype == to_string(value.type()));
    CHECK(shape{t.shape} == value.dims());
    CHECK(t.value == bytes);
    CHECK(t.crc32c == crc32c(bytes));
    CHECK(read_file(*disk, "/m/" + t.file)->substr(static_cast<size_t>(t.offset), static_cast<size_t>(t.bytes))
          == bytes);
  }
}

TEST_CASE_FIXTURE(examined_directory, "a position that is text is shown, other bytes are counted") {
  auto content = sample(1);
  content.blobs = {{"infeed/0", "troupe input 2\nnext 42\n"}, {"books", std::string("\0\xff", 2)}};
  REQUIRE(store->commit(content));
  const auto r = look(1);
  REQUIRE(r.blobs.size() == 2);
  CHECK(r.blobs[0].name == "books");
  CHECK(r.blobs[0].bytes == 2);
  CHECK(r.blobs[0].text.empty());
  CHECK(r.blobs[1].text == "troupe input 2\nnext 42\n");
  CHECK_FALSE(r.verified);
  CHECK_FALSE(r.tensors[0].value);
}

TEST_CASE_FIXTURE(examined_directory, "a flipped byte is found by reading: file, tensor, offset, both checksums") {
  commit(*store, 1);
  const auto bias = look(1).tensors[2];
  REQUIRE(bias.name == "dense/bias");
  rewrite(shard_1, [&](std::string& bytes) { bytes[static_cast<size_t>(bias.offset) + 3] ^= 1; });
  CHECK(look(1).damages.empty());
  const auto r = look(1, {.verify = true});
  REQUIRE(r.damages.size() == 1);
  CHECK(r.damages[0].file == shard_1);
  CHECK(r.damages[0].tensor == "dense/bias");
  CHECK(r.damages[0].offset == bias.offset);
  CHECK(has(r.damages[0].reason, "should have " + crc32c_text(*bias.crc32c)));
  CHECK(r.tensors.size() == sample(1).tensors.size());
}

TEST_CASE_FIXTURE(examined_directory,
                  "of a shard that was cut off, the tensors beyond its end are named and the others verified") {
  commit(*store, 1);
  const auto whole = look(1);
  const auto last = std::max_element(whole.tensors.begin(), whole.tensors.end(),
                                     [](const auto& a, const auto& b) { return a.offset < b.offset; });
  const auto size = last->offset;
  rewrite(shard_1, [&](std::string& bytes) { bytes.resize(static_cast<size_t>(size)); });
  for (const bool verify : {false, true}) {
    const auto r = look(1, {.verify = verify});
    REQUIRE(r.damages.size() == 2);
    CHECK(r.damages[0].tensor.empty());
    CHECK(r.damages[0].offset == size);
    CHECK(has(r.damages[0].reason, "has " + std::to_string(size) + " bytes and should have"));
    CHECK(r.damages[1].tensor == last->name);
    CHECK(r.damages[1].offset == last->offset);
    CHECK(names_of(r.tensors) == names_of(whole.tensors));
  }
}

TEST_CASE_FIXTURE(examined_directory, "a missing shard and a damaged header are damage of their file") {
  commit(*store, 1);
  SUBCASE("missing") {
    REQUIRE(disk->remove(shard_1));
    const auto r = look(1, {.verify = true});
    REQUIRE(r.damages.size() == 1);
    CHECK(r.damages[0] == damage{shard_1, "", {}, "is missing"});
  }
  SUBCASE("header") {
    rewrite(shard_1, [](std::string& bytes) { bytes[20] ^= 1; });
    const auto r = look(1);
    REQUIRE(r.damages.size() == 1);
    CHECK(r.damages[0].offset == 0);
    CHECK(has(r.damages[0].reason, "the header has the checksum"));
  }
}

TEST_CASE_FIXTURE(examined_directory, "without a manifest that can be trusted the shards speak for themselves") {
  commit(*store, 1);
  const auto all = names_of(look(1).tensors);
  SUBCASE("cut off: where it ends is told") {
    rewrite(manifest_1, [](std::string& bytes) { bytes.resize(100); });
    const auto r = look(1, {.verify = true});
    REQUIRE(r.damages.size() == 1);
    CHECK(r.damages[0].file == manifest_1);
    CHECK(r.damages[0].offset == 100);
    CHECK(names_of(r.tensors) == all);
    CHECK(r.tensors[0].crc32c);  // The checksum is computed: none is recorded.
  }
  SUBCASE("changed") {
    rewrite(manifest_1, [](std::string& bytes) { bytes[bytes.find("float32")] = 'g'; });
    const auto r = look(1);
    REQUIRE(r.damages.size() == 1);
    CHECK(has(r.damages[0].reason, "its checksum is"));
    CHECK(names_of(r.tensors) == all);
    CHECK_FALSE(r.tensors[0].crc32c);
  }
  SUBCASE("missing") {
    REQUIRE(disk->remove(manifest_1));
    const auto r = look(1);
    REQUIRE(r.damages.size() == 1);
    CHECK(r.damages[0].reason == "is missing");
    CHECK(names_of(r.tensors) == all);
  }
  SUBCASE("nested too deep: told where, and the tensors are those of the shards") {
    rewrite(manifest_1, [](std::string& bytes) {
      const std::string from = "\"format_version\": 1";
      bytes.replace(bytes.find(from), from.size(),
                    "\"format_version\": " + std::string(100, '[') + std::string(100, ']'));
      const auto at = bytes.size() - 12;
      bytes.replace(at, 8, "00000000");
      bytes.replace(at, 8, crc32c_text(crc32c(bytes)));
    });
    const auto r = look(1);
    REQUIRE(r.damages.size() == 1);
    REQUIRE(r.damages[0].offset);
    CHECK(r.damages[0].reason == "it nests deeper than 64 at byte " + std::to_string(*r.damages[0].offset));
    CHECK(names_of(r.tensors) == all);
  }
  SUBCASE("of a later version: an error, and no damage") {
    rewrite(manifest_1, [](std::string& bytes) {
      bytes.replace(bytes.find("\"format_version\": 1"), 19, "\"format_version\": 2");
      const auto at = bytes.size() - 12;
      bytes.replace(at, 8, "00000000");
      bytes.replace(at, 8, crc32c_text(crc32c(bytes)));
    });
    CHECK(examine_checkpoint(*disk, "/m", {1}, {}).error().category == errc::unimplemented);
  }
  CHECK(examine_checkpoint(*disk, "/m", {2}, {}).error().category == errc::not_found);
}

TEST_CASE_FIXTURE(examined_directory,
                  "a file that may not be read is told apart from one that is damaged: it may be whole") {
  for (const int64_t step : {1, 2})
    commit(*store, step);
  const auto fs = faulty_file_system::around(disk);
  const auto forbid = [&](const std::string& path) {
    fs->inject({.operation = file_operation::open,
                .category = errc::failed_precondition,
                .reason = "Permission denied",
                .path_contains = path});
  };
  forbid(shard_1);
  const auto r = examine_checkpoint(*fs, "/m", {1}, {});
  REQUIRE(r);
  REQUIRE(r->damages.size() == 1);
  CHECK(r->damages[0] == damage{shard_1, "", {}, "may not be read: Permission denied (injected)", true});
  forbid(manifest_1);
  forbid("/m/model.ckpt-2-00000");
  const auto all = examine_directory(*fs, "/m", {});
  REQUIRE(all);
  for (const auto& c : all->checkpoints) {
    REQUIRE(c.damages.size() == 1);
    CHECK(c.damages[0].unreadable);
  }
  forbid(shard_1);
  REQUIRE(disk->remove(manifest_1));
  const auto without = examine_checkpoint(*fs, "/m", {1}, {});
  REQUIRE_MESSAGE(without, (without ? "" : to_text(without.error())));
  REQUIRE(without->damages.size() == 2);
  CHECK(without->damages[0] == damage{manifest_1, "", {}, "is missing"});
  CHECK(without->damages[1] == damage{shard_1, "", {}, "may not be read: Permission denied (injected)", true});
  commit(*store, 1);
  fs->inject({.operation = file_operation::read,
              .category = errc::unavailable,
              .reason = "input/output error",
              .path_contains = shard_1});
  const auto broken = examine_checkpoint(*fs, "/m", {1}, {.verify = true});
  REQUIRE(broken);
  CHECK(broken->damages.at(0).reason == "could not be read: input/output error (injected)");
}

TEST_CASE_FIXTURE(examined_directory,
                  "any safetensors file is told by its header, a dtype that we have not under its own name") {
  const std::string
      header = R"({"__metadata__":{"by":"somebody"},"h":{"dtype":"BF16","shape":[2,2],"data_offsets":[4,12]},)"
               R"("i":{"dtype":"I32","shape":[],"data_offsets":[0,4]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  bytes += header + std::string("\1\0\0\0abcdefgh", 12);
  REQUIRE(write_file_atomically(*disk, "/m", "export.safetensors", bytes));
  const auto look_at_file = [&](inspect_options options) {
    return *examine_safetensors(*disk, "/m/export.safetensors", options);
  };
  auto r = look_at_file({});
  CHECK(r.damages.empty());
  CHECK_FALSE(r.id);
  CHECK(r.properties == std::map<std::string, std::string>{{"by", "somebody"}});
  REQUIRE(r.tensors.size() == 2);
  CHECK(r.tensors[0].dtype == "int32");
  CHECK(r.tensors[1].dtype == "BF16");
  CHECK(r.tensors[1].shape == std::vector<int64_t>{2, 2});
  CHECK(r.tensors[1].bytes == 8);
  CHECK_FALSE(r.tensors[0].crc32c);
  CHECK(look_at_file({.verify = true}).tensors[0].crc32c == crc32c(std::string("\1\0\0\0", 4)));

  REQUIRE(
      write_file_atomically(*disk, "/m", "export.safetensors", std::string_view{bytes}.substr(0, bytes.size() - 10)));
  r = look_at_file({});
  CHECK(names_of(r.tensors) == std::vector<std::string>{"h", "i"});
  CHECK_FALSE(r.damages.empty());
  REQUIRE(write_file_atomically(*disk, "/m", "export.safetensors",
                                std::string(7, '\xff')
                                    + "\x7f"
                                      "{}"));
  r = look_at_file({});
  REQUIRE(r.damages.size() == 1);  // The length is refused before memory is allocated for it.
  CHECK(has(r.damages[0].reason, "is said to have"));
}

TEST_CASE_FIXTURE(examined_directory,
                  "a directory is told with what is listed, preserved, left over, missing and damaged") {
  for (const int64_t step : {1, 2, 3})
    commit(*store, step);
  edit(*disk, "checkpoint", write_state_file(ids({2, 3, 9}), {.preserved = {{1}}}));
  REQUIRE(disk->remove("/m/model.ckpt-2-00000-of-00001.safetensors"));
  REQUIRE(disk->create("/m/model.ckpt-4-00000-of-00002.safetensors"));
  auto r = look_around();
  CHECK(r.owner == "this process");
  CHECK(r.newest == checkpoint_id{9});
  REQUIRE(r.checkpoints.size() == 5);
  const auto row = [&c = r.checkpoints](size_t i) {
    return std::tuple{c[i].id.step, c[i].listed, c[i].preserved, c[i].damages.empty()};
  };
  CHECK(row(0) == std::tuple{1, false, true, true});
  CHECK(row(1) == std::tuple{2, true, false, false});
  CHECK(row(2) == std::tuple{3, true, false, true});
  CHECK(row(3) == std::tuple{4, false, false, true});
  CHECK(r.checkpoints[3].unfinished);
  CHECK_FALSE(r.checkpoints[0].unfinished);
  CHECK(row(4) == std::tuple{9, true, false, false});
  CHECK(r.checkpoints[2].wall_time == sample(3).wall_time);
  CHECK(r.warnings.empty());
  store.reset();
  REQUIRE(disk->remove("/m/checkpoint"));
  r = look_around();
  CHECK_FALSE(r.owner);
  CHECK_FALSE(r.newest);
  CHECK(r.checkpoints.size() == 4);
  REQUIRE(r.warnings.size() == 1);
  CHECK(has(r.warnings[0], "no state file"));
  CHECK(examine_directory(*disk, "/nowhere", {}).error().category == errc::not_found);
  CHECK(examine_directory(*disk, manifest_1, {}).error().category == errc::failed_precondition);
}

TEST_CASE("a directory that is written to while it is verified shows no damage that is none") {
  const temporary_directory place;
  auto fs = posix_file_system();
  std::atomic<bool> done = false;
  expected<void> outcome;
  std::thread writer{[&] {
    auto store = checkpoint_store::open(fs, place.path, {.keep_checkpoint_max = 2, .shard_bytes_max = 64});
    for (int64_t step = 1; store && outcome && step <= 40; ++step)
      outcome = (*store)->commit(sample(step)).map([](const auto&) {});
    done = true;
  }};
  int64_t checkpoints = 0;
  do {
    const auto r = examine_directory(*fs, place.path, {.verify = true});
    REQUIRE_MESSAGE(r, (r ? "" : to_text(r.error())));
    for (const auto& c : r->checkpoints)
      CHECK_MESSAGE(c.damages.empty(),
                    c.id.step << " " << (c.damages.empty() ? "" : c.damages[0].file + ": " + c.damages[0].reason));
    checkpoints += static_cast<int64_t>(r->checkpoints.size());
  } while (!done);
  writer.join();
  CHECK(outcome);
  CHECK(checkpoints > 0);
}

TEST_CASE_FIXTURE(examined_directory, "verifying a directory reads every byte of all") {
  for (const int64_t step : {1, 2})
    commit(*store, step);
  rewrite(shard_1, [](std::string& bytes) { bytes.back() ^= 1; });
  CHECK(look_around().checkpoints[0].damages.empty());
  const auto r = look_around({.verify = true});
  CHECK(r.checkpoints[0].damages.size() == 1);
  CHECK(r.checkpoints[1].damages.empty());
}

TEST_CASE_FIXTURE(
    examined_directory,
    "an event file is told by tags, counts, steps and notes, and the readable part of a damaged one too") {
  auto log = event_log_writer::create(disk, "/m/eval", {.host = "h", .wall_time = 1.6e9});
  REQUIRE(log);
  REQUIRE((*log)->add({.wall_time = 1.6e9, .step = 0, .note = session_note{.what = session_note::kind::start}}));
  for (const int64_t step : {10, 20, 30})
    REQUIRE((*log)->add(
        {.wall_time = 1.6e9 + static_cast<double>(step),
         .step = step,
         .values = {{.tag = "loss", .scalar = 1.0 / static_cast<double>(step)}, {.tag = "accuracy", .scalar = 0.5}}}));
  REQUIRE((*log)->close());
  const std::string path = (*log)->path();
  const auto look_at = [&] { return *examine_event_file(*disk, path); };
  auto r = look_at();
  CHECK(r.file_version == "brain.Event:2");
  CHECK(r.events == 5);
  CHECK(r.damages.empty());
  CHECK_FALSE(r.truncated);
  CHECK(r.bytes == r.bytes_read);
  CHECK(r.last_wall_time == 1.6e9 + 30);
  REQUIRE(r.sessions.size() == 1);
  CHECK(r.sessions[0].what == "start");
  REQUIRE(r.tags.size() == 2);
  CHECK(r.tags[1].tag == "loss");
  CHECK(r.tags[1].count == 3);
  CHECK(r.tags[1].first_step == 10);
  CHECK(r.tags[1].last_step == 30);
  CHECK(r.tags[1].last->scalar == static_cast<double>(1.0f / 30));
  const auto around = look_around();
  CHECK(around.event_files == std::vector<std::string>{path.substr(3)});
  CHECK(around.evaluations.at("eval")
        == std::map<std::string, double>{{"accuracy", 0.5}, {"global_step", 30}, {"loss", 1.0f / 30}});

  const auto size = r.bytes;
  rewrite(path, [](std::string& bytes) { bytes.resize(bytes.size() - 1); });
  r = look_at();
  CHECK(r.truncated);
  CHECK(r.damages.empty());
  CHECK(r.tags[1].count == 2);
  CHECK(r.bytes_read < size);
  rewrite(path, [&](std::string& bytes) { bytes[static_cast<size_t>(r.bytes_read) - 20] ^= 1; });
  const auto damaged = look_at();
  REQUIRE(damaged.damages.size() == 1);
  CHECK(damaged.damages[0].offset == damaged.bytes_read);
  CHECK(damaged.tags[1].count == 1);
  CHECK_FALSE(look_around().warnings.empty());
}

}  // namespace troupe
