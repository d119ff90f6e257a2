#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

#include <filesystem>

namespace troupe {

TEST_CASE("what is restored is what was committed, on every file system") {
  const temporary_directory disk;
  for (const auto& [fs, directory] :
       {std::pair{memory_file_system(), std::string{"/m"}}, std::pair{posix_file_system(), disk.path + "/a/b"}}) {
    auto store = open_store(fs, {}, directory);
    const auto done = commit(*store, 1200);
    CHECK(done.prefix == directory + "/model.ckpt-1200");
    CHECK(done.warnings.empty());
    const auto restored = store->restore_newest();
    REQUIRE(restored);
    CHECK(restored->prefix == done.prefix);
    CHECK(restored->warnings.empty());
    CHECK(same(restored->content, sample(1200)));
    CHECK(store->newest() == checkpoint_id{1200});
    CHECK(read_file(*fs, directory + "/checkpoint").value()
          == "model_checkpoint_path: \"model.ckpt-1200\"\nall_model_checkpoint_paths: \"model.ckpt-1200\"\n"
             "all_model_checkpoint_timestamps: 1604320000\nlast_preserved_timestamp: 1604320000\n");
  }
}

TEST_CASE("every file is written, synced, renamed and its directory synced before the next one, the state file last") {
  auto fs = faulty_file_system::around(memory_file_system());
  auto store = open_store(fs, {.keep_checkpoint_max = 1, .shard_bytes_max = 64});
  commit(*store, 1);
  const auto before = fs->trace().size();
  commit(*store, 2);
  std::vector<std::string> changes;
  for (size_t i = before; i < fs->trace().size(); ++i)
    if (const auto call = fs->trace()[i]; !call.starts_with("list") && !call.starts_with("look at")
                                          && !call.starts_with("write") && !call.starts_with("close"))
      changes.push_back(call);
  std::vector<std::string> wanted;
  for (const std::string name : {"model.ckpt-2-00000-of-00002.safetensors", "model.ckpt-2-00001-of-00002.safetensors",
                                 "model.ckpt-2.manifest.json", "checkpoint"})
    for (const auto& call : {"create /m/" + name + ".tmp", "sync /m/" + name + ".tmp",
                             "rename /m/" + name + ".tmp to /m/" + name, std::string{"sync directory /m"}})
      wanted.push_back(call);
  for (const std::string call :
       {"remove /m/model.ckpt-1.manifest.json", "remove /m/model.ckpt-1-00000-of-00002.safetensors",
        "remove /m/model.ckpt-1-00001-of-00002.safetensors", "sync directory /m"})
    wanted.push_back(call);
  CHECK(changes == wanted);
}

TEST_CASE("a shard is a file of its own where a link had its temporary name, and what the link names is not made") {
  const temporary_directory disk;
  const std::string shard = disk.path + "/model.ckpt-1-00000-of-00001.safetensors", outside = disk.path + "/outside";
  auto store = open_store(posix_file_system(), {}, disk.path);
  std::filesystem::create_symlink(outside, shard + ".tmp");  // Leads nowhere, so that no listing shows it.
  commit(*store, 1);
  CHECK(std::filesystem::symlink_status(shard).type() == std::filesystem::file_type::regular);
  CHECK_FALSE(std::filesystem::exists(outside));
  CHECK(same(store->restore({1})->content, sample(1)));
}

TEST_CASE("shards are filled in order up to their limit, and a larger tensor has one to itself") {
  auto fs = memory_file_system();
  auto store = open_store(fs, {.shard_bytes_max = 100});
  const checkpoint_content content{
      .id = {3},
      .tensors = {{"a", numbers({10}, 0)}, {"b", numbers({15}, 1)}, {"c", numbers({30}, 2)}, {"d", numbers({1}, 3)}}};
  REQUIRE(store->commit(content));
  const auto info = store->inspect({3});
  REQUIRE(info);
  REQUIRE(info->tensors.size() == 4);
  CHECK(info->tensors[0].file == "model.ckpt-3-00000-of-00003.safetensors");
  CHECK(info->tensors[1].file == "model.ckpt-3-00000-of-00003.safetensors");
  CHECK(info->tensors[2].file == "model.ckpt-3-00001-of-00003.safetensors");
  CHECK(info->tensors[3].file == "model.ckpt-3-00002-of-00003.safetensors");
  for (const auto& t : info->tensors)
    CHECK(t.offset % 4 == 0);
  CHECK(info->tensors[0].offset % 64 == 0);
  CHECK(same(store->restore({3})->content, content));
}

TEST_CASE("a checkpoint of no tensors is a checkpoint") {
  auto store = open_store(memory_file_system());
  REQUIRE(store->commit({.id = {0}, .blobs = {{"books", "x"}}}));
  CHECK(same(store->restore_newest()->content, {.id = {0}, .blobs = {{"books", "x"}}}));
}

TEST_CASE("what cannot be written is refused by name, and nothing that is there changes") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  commit(*store, 1);
  const auto before = names_in(*fs);
  const auto refused = [&](checkpoint_content content, std::string_view names) {
    const auto result = store->commit(content);
    REQUIRE_FALSE(result);
    CHECK(result.error().category == errc::invalid_argument);
    CHECK(has(result.error().message, names));
    CHECK(names_in(*fs) == before);
  };
  refused({.id = {2}, .tensors = {{"w", numbers({1}, 0)}, {"w", numbers({1}, 0)}}}, "w");
  refused({.id = {2}, .tensors = {{"__metadata__", numbers({1}, 0)}}}, "__metadata__");
  refused({.id = {2}, .tensors = {{"\xff", numbers({1}, 0)}}}, "UTF-8");
  refused({.id = {2}, .properties = {{"p", "\xff"}}}, "UTF-8");
  refused({.id = {-1}}, "-1");
}

TEST_CASE("[EST-52] saving the same step twice moves the entry to the end, and touches none of its files") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  for (const int64_t step : {1, 2, 3})
    commit(*store, step);
  const auto shard = [&] { return fs->info("/m/model.ckpt-1-00000-of-00001.safetensors")->modified; };
  const double before = shard();
  CHECK(commit(*store, 1).warnings.empty());
  CHECK(shard() == before);
  CHECK(store->listed() == ids({2, 3, 1}));
  CHECK(store->newest() == checkpoint_id{1});
}

TEST_CASE("a listed step that comes again with other values keeps its files and says so") {
  auto store = open_store(memory_file_system());
  commit(*store, 1);
  auto other = sample(1);
  other.tensors[2].value = tensor::of<double>({2}, {7, 7});
  const auto again = store->commit(other);
  REQUIRE(again);
  REQUIRE(again->warnings.size() == 1);
  CHECK(has(again->warnings[0], "dense/bias"));
  CHECK(same(store->restore({1})->content, sample(1)));
}

TEST_CASE("a listed step that is damaged is written anew, with a warning that says where") {
  auto fs = memory_disk::make();
  auto store = open_store(fs);
  commit(*store, 1);
  const std::string shard = "/m/model.ckpt-1-00000-of-00001.safetensors";
  auto bytes = read_file(*fs, shard).value();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  fs->overwrite(shard, bytes);
  const auto again = commit(*store, 1);
  REQUIRE(again.warnings.size() == 1);
  CHECK(has(again.warnings[0], shard));
  CHECK(same(store->restore_newest()->content, sample(1)));
}

TEST_CASE("a restored step that is saved again is not read again, unless its files have changed since") {
  auto disk = memory_disk::make();
  auto fs = faulty_file_system::around(disk);
  auto store = open_store(fs);
  commit(*store, 1);
  commit(*store, 2);
  const std::string shard = "/m/model.ckpt-1-00000-of-00001.safetensors";
  const auto reads_in_commit = [&](int64_t step) {
    const auto before = static_cast<std::ptrdiff_t>(fs->trace().size());
    CHECK(commit(*store, step).warnings.empty());
    const auto trace = fs->trace();
    return std::count_if(trace.begin() + before, trace.end(),
                         [](const auto& call) { return has(call, ".safetensors") && call.starts_with("open"); });
  };
  REQUIRE(store->restore({1}));
  CHECK(reads_in_commit(1) == 0);
  CHECK(reads_in_commit(2) == 1);
  fs->inject({.operation = file_operation::info, .path_contains = shard});
  CHECK(reads_in_commit(1) == 1);
  CHECK(fs->failures() == 1);
  const auto replace = [&](std::string_view bytes) {
    const auto file = disk->create(shard).value();
    REQUIRE(file->append(std::as_bytes(std::span{bytes})));
    REQUIRE(file->close());
  };
  auto bytes = read_file(*fs, shard).value();
  replace(bytes);
  CHECK(reads_in_commit(1) == 1);
  REQUIRE(store->restore({1}));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  replace(bytes);
  const auto again = commit(*store, 1);
  REQUIRE(again.warnings.size() == 1);
  CHECK(has(again.warnings[0], shard));
  CHECK(same(store->restore({1})->content, sample(1)));
}

TEST_CASE("a full disk is named, gives back what was written, and leaves the older checkpoint") {
  auto disk = memory_disk::make();
  auto fs = faulty_file_system::around(disk);
  auto store = open_store(fs, {.keep_checkpoint_max = 1, .shard_bytes_max = 64});
  commit(*store, 1);
  const auto before = names_in(*fs);
  for (const auto operation : {file_operation::create, file_operation::append, file_operation::sync,
                               file_operation::close, file_operation::rename})
    for (const std::string file : {"00001-of-00002", "manifest", "checkpoint"}) {
      CAPTURE(to_string(operation));
      CAPTURE(file);
      fs->inject({.operation = operation, .path_contains = file});
      const auto failed = store->commit(sample(2));
      REQUIRE_FALSE(failed);
      CHECK(failed.error().category == errc::resource_exhausted);
      CHECK(has(failed.error().message, "no space left on device"));
      CHECK(names_in(*fs) == before);
      CHECK(store->listed() == ids({1}));
    }
  CHECK(commit(*store, 2).deleted == ids({1}));
  CHECK(same(store->restore_newest()->content, sample(2)));
}

TEST_CASE("a store that is read only takes no lock, writes nothing and sees what its owner commits") {
  auto fs = faulty_file_system::around(memory_file_system());
  auto reader = open_store(fs, {.read_only = true});
  CHECK(reader->restore_newest().error().category == errc::not_found);
  auto owner = open_store(fs);
  commit(*owner, 1);
  const auto names = names_in(*fs);
  CHECK(reader->restore_newest()->content.id.step == 1);
  CHECK(reader->listed() == ids({1}));
  CHECK(reader->commit(sample(2)).error().category == errc::failed_precondition);
  commit(*owner, 2);
  CHECK(reader->newest() == checkpoint_id{2});
}

TEST_CASE("a directory has one owner at a time, and a path that is a file or unusable has none") {
  const temporary_directory disk;
  auto fs = posix_file_system();
  auto owner = open_store(fs, {}, disk.path);
  const auto second = checkpoint_store::open(fs, disk.path);
  REQUIRE_FALSE(second);
  CHECK(second.error().category == errc::failed_precondition);
  CHECK(has(second.error().message, std::to_string(::getpid())));
  owner.reset();
  CHECK(checkpoint_store::open(fs, disk.path));

  REQUIRE(write_file_atomically(*fs, disk.path, "file", "x"));
  for (const std::string path : {"/file", "/file/below"})
    CHECK(checkpoint_store::open(fs, disk.path + path).error().category == errc::failed_precondition);
  CHECK(checkpoint_store::open(fs, disk.path, {.keep_checkpoint_max = -1}).error().category == errc::invalid_argument);
}

}  // namespace troupe
