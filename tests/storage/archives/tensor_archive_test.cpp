#include "storage/archives/tensor_archive.hpp"

#include "storage/archives/tensor_names.hpp"
#include "storage/encodings/safetensors.hpp"
#include "storage/tensorflow/tensor_bundle.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

namespace troupe {

namespace {

std::string why(const expected<std::unique_ptr<tensor_archive>>& a) { return a ? "" : to_text(a.error()); }

/// A safetensors file with a tensor of half precision, which is no dtype of ours.
std::string foreign_file() {
  std::vector<raw_place> places{{"half", "F16", {2}, 0, 4}, {"w", "F32", {2}, 0, 8}, {"yes", "BOOL", {1}, 0, 1}};
  std::string bytes = lay_out_safetensors(std::span{places}).value();
  const float w[] = {1.5f, -2};
  bytes += "\x11\x22\x33\x44";
  bytes.append(reinterpret_cast<const char*>(w), sizeof w);
  return bytes + "\2";
}

bundle_source source_of(const std::string& name, const tensor& value) {
  const auto extents = value.dims().extents();
  return {name, &element_type_of(value.type()), {extents.begin(), extents.end()}, [value] { return value.buffer(); }};
}

/// A directory in TensorFlow's format with checkpoints of steps 3 and 5.
std::shared_ptr<memory_disk> tensorflow_directory(const std::vector<std::pair<std::string, tensor>>& tensors) {
  auto disk = memory_disk::make();
  REQUIRE(disk->create_directories("/tf"));
  for (const int64_t step : {3, 5}) {
    std::vector<bundle_source> sources{source_of("global_step", tensor::scalar(step))};
    for (const auto& [name, value] : tensors)
      sources.push_back(source_of(name, value));
    REQUIRE(write_bundle(*disk, "/tf", "model.ckpt-" + std::to_string(step), sources));
  }
  REQUIRE(write_file_atomically(
      *disk, "/tf", "checkpoint",
      "model_checkpoint_path: \"/elsewhere/model.ckpt-5\"\nall_model_checkpoint_paths: \"model.ckpt-3\"\n"));
  return disk;
}

}  // namespace

TEST_CASE("a checkpoint of ours is opened by its directory, its prefix and its manifest, and every tensor is read") {
  auto disk = memory_disk::make();
  auto store = open_store(disk);
  commit(*store, 1);
  commit(*store, 2);
  for (const char* path : {"/m", "/m/model.ckpt-2", "/m/model.ckpt-2.manifest.json"}) {
    const auto archive = open_archive(disk, path);
    REQUIRE_MESSAGE(archive, why(archive));
    CHECK((*archive)->format() == archive_format::troupe);
    CHECK((*archive)->path() == "/m/model.ckpt-2");
    CHECK(step_of(**archive).value() == 2);
    for (const auto& [name, value] : sample(2).tensors) {
      const auto* t = (*archive)->find(name);
      REQUIRE(t);
      CHECK((*archive)->read(*t).value() == value);
    }
    CHECK((*archive)->tensors().size() == sample(2).tensors.size());
  }
  CHECK(step_of(**open_archive(disk, "/m", 1)).value() == 1);
  CHECK(open_archive(disk, "/m", 7).error().category == errc::not_found);
  CHECK(open_archive(disk, "/m/model.ckpt-2", 1).error().category == errc::invalid_argument);
}

TEST_CASE("a checkpoint that is open is leased: its owner does not delete it") {
  auto disk = memory_disk::make();
  auto store = open_store(disk, {.keep_checkpoint_max = 1});
  commit(*store, 1);
  auto archive = open_archive(disk, "/m");
  CHECK(commit(*store, 2).held == ids({1}));
  CHECK((*archive)->read(*(*archive)->find("dense/kernel")).has_value());
  archive->reset();
  CHECK(commit(*store, 3).deleted.size() == 2);
}

TEST_CASE("a TensorFlow directory is opened at the checkpoint that its state file names, whatever path that has") {
  const auto disk = tensorflow_directory({{"w", numbers({2, 2}, 1)}});
  const auto archive = open_archive(disk, "/tf");
  REQUIRE_MESSAGE(archive, why(archive));
  CHECK((*archive)->format() == archive_format::tensorflow);
  CHECK((*archive)->path() == "/tf/model.ckpt-5");
  CHECK(step_of(**archive).value() == 5);
  CHECK((*archive)->read(*(*archive)->find("w")).value() == numbers({2, 2}, 1));
  CHECK(step_of(**open_archive(disk, "/tf", 3)).value() == 3);
  CHECK((*open_archive(disk, "/tf/model.ckpt-3.index"))->path() == "/tf/model.ckpt-3");
  CHECK((*open_archive(disk, "/tf/model.ckpt-3"))->path() == "/tf/model.ckpt-3");
}

TEST_CASE("any safetensors file is opened; what is no tensor of ours has its bytes and no value") {
  auto disk = memory_disk::make();
  REQUIRE(disk->create_directories("/f"));
  REQUIRE(write_file_atomically(*disk, "/f", "other.safetensors", foreign_file()));
  const auto archive = open_archive(disk, "/f/other.safetensors");
  REQUIRE_MESSAGE(archive, why(archive));
  auto& a = **archive;
  CHECK(a.read(*a.find("w")).value() == tensor::of<float>({2}, {1.5f, -2}));
  const auto* half = a.find("half");
  CHECK(type_text(*half) == "float16[2]");
  CHECK(std::memcmp(a.read_bytes(*half)->get(), "\x11\x22\x33\x44", 4) == 0);
  CHECK(a.read(*half).error().category == errc::type);
  CHECK(has(a.read(*half).error().message,
            "/f/other.safetensors: tensor half is float16[2], which is no tensor of Troupe's"));
  CHECK_MESSAGE(a.read(*a.find("yes")).error().category == errc::data_loss, "2 is no boolean");
  CHECK(step_of(a).value() == std::nullopt);
}

TEST_CASE("what is no checkpoint is refused by what is there, or is not") {
  auto disk = memory_disk::make();
  for (const char* directory : {"/empty", "/f"})
    REQUIRE(disk->create_directories(directory));
  REQUIRE(write_file_atomically(*disk, "/f", "notes.txt", "x"));
  const auto message = [&](const char* path) { return open_archive(disk, path).error().message; };
  CHECK(has(message("/empty"), "/empty has no state file 'checkpoint'"));
  CHECK(has(message("/nowhere/model.ckpt-3"),
            "neither /nowhere/model.ckpt-3.manifest.json nor /nowhere/model.ckpt-3.index exists"));
  CHECK(has(message("/f/notes.txt"), "/f/notes.txt is neither a directory with checkpoints, nor a checkpoint"));
  REQUIRE(write_file_atomically(*disk, "/f", "checkpoint", "model_checkpoint_path: \"ckpt-9\""));
  CHECK(has(message("/f"), "there is no checkpoint /f/ckpt-9"));
}

TEST_CASE("slots below a partition or a tower of their variable are called as ours are, unless that name is taken") {
  const auto w = numbers({2}, 0);
  const auto disk = tensorflow_directory({{"w", w},
                                          {"w/t_0/Adagrad", w},
                                          {"w/part_12/Adam", w},
                                          {"w/t_0/Adam", w},
                                          {"w/t_x/Adam_1", w},
                                          {"v/t_0/Adam", w},
                                          {"u", numbers({3}, 0)},
                                          {"u/t_0/Adam", w},
                                          {"t_0/Adam", w}});
  const auto archive = open_archive(disk, "/tf");
  std::map<std::string, std::string> names;
  for (const auto& [name, t] : names_here(**archive))
    names[name] = t->name;
  CHECK(names.at("w/Adagrad") == "w/t_0/Adagrad");
  CHECK(names.at("w/Adam") == "w/part_12/Adam");
  for (const char* same : {"w", "w/t_0/Adam", "w/t_x/Adam_1", "v/t_0/Adam", "u/t_0/Adam", "t_0/Adam", "global_step"})
    CHECK_MESSAGE(names[same] == same, same);
}

}  // namespace troupe
