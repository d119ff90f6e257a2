#include "storage/archives/conversion.hpp"

#include "storage/archives/tensor_archive.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/delegating_file_system.hpp"
#include "tests/support/has.hpp"

#include <cmath>
#include <functional>
#include <tuple>

namespace troupe {

namespace {

conversion_result converted(const std::shared_ptr<file_system>& fs, const std::string& from, const std::string& to,
                            const convert_options& options = {}) {
  auto result = convert_archive(fs, from, to, options, 100);
  REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
  return std::move(*result);
}
error refused(const std::shared_ptr<file_system>& fs, const std::string& from, const std::string& to,
              const convert_options& options = {}) {
  const auto result = convert_archive(fs, from, to, options, 100);
  REQUIRE_FALSE(result);
  return result.error();
}

/// The tensors of a checkpoint, by name.
std::map<std::string, tensor> values_of(const std::shared_ptr<file_system>& fs, const std::string& path) {
  const auto archive = open_archive(fs, path);
  REQUIRE_MESSAGE(archive, (archive ? "" : to_text(archive.error())));
  std::map<std::string, tensor> values;
  for (const auto& t : (*archive)->tensors())
    values.emplace(t.name, (*archive)->read(t).value());
  return values;
}

/// A disk with one of our checkpoints, of step 4, in which a variable has slots of Adam.
std::shared_ptr<memory_disk> trained() {
  auto disk = memory_disk::make();
  auto content = sample(4);
  content.tensors.push_back({"dense/kernel/Adam", numbers({3, 5}, 100)});
  content.tensors.push_back({"dense/kernel/Adam_1", numbers({3, 5}, 200)});
  REQUIRE(open_store(disk)->commit(content));
  return disk;
}

/// Calls `before` once, when a directory is about to be locked.
struct hurried_disk final : delegating_file_system {
  using delegating_file_system::delegating_file_system;
  expected<std::unique_ptr<directory_lock>> lock(const std::string& directory) override {
    if (const auto first = std::exchange(before, {}))
      first();
    return delegating_file_system::lock(directory);
  }
  std::function<void()> before;
};

}  // namespace

TEST_CASE("to TensorFlow and back every tensor has its bits, and the powers of beta come and go") {
  const auto disk = trained();
  const auto there = converted(disk, "/m", "/tf");
  CHECK(there.to == "/tf/model.ckpt-4");
  CHECK(there.to_format == checkpoint_format::tensorflow);
  CHECK(there.from_format == checkpoint_format::troupe);
  CHECK(to_string(there.to_format) == "tensorflow");
  CHECK(there.step == 4);
  CHECK(there.left.empty());
  auto values = values_of(disk, "/tf");
  CHECK(values.at("beta1_power").as<float>()[0] == doctest::Approx(std::pow(0.9, 5)));
  CHECK(values.at("beta2_power").as<float>()[0] == doctest::Approx(std::pow(0.999, 5)));
  const auto back = converted(disk, "/tf", "/again");
  CHECK(back.from_format == checkpoint_format::tensorflow);
  CHECK(back.to_format == checkpoint_format::troupe);
  REQUIRE(back.left.size() == 2);
  CHECK(back.left[0].name == "beta1_power");
  CHECK(back.left[0].reason == "Troupe computes this power from the step");
  CHECK(values_of(disk, "/again") == values_of(disk, "/m"));
  auto store = open_store(disk, {.read_only = true}, "/again");
  const auto restored = store->restore_newest();
  REQUIRE(restored);
  CHECK(restored->content.id == checkpoint_id{4});
  CHECK(restored->content.properties
        == std::map<std::string, std::string>{{"converted_from", "tensorflow"}, {"finished", "true"}});
}

TEST_CASE("to safetensors and from there every tensor has its bits, in a file that any reader takes") {
  const auto disk = trained();
  CHECK(converted(disk, "/m/model.ckpt-4", "/w.safetensors").to == "/w.safetensors");
  CHECK(values_of(disk, "/w.safetensors") == values_of(disk, "/m"));
  CHECK(converted(disk, "/w.safetensors", "/mine", {.format = checkpoint_format::troupe}).step == 4);
  CHECK(values_of(disk, "/mine") == values_of(disk, "/m"));
}

TEST_CASE("what TensorFlow itself has written is converted, but for what has no place here") {
  const std::string golden = std::string{TROUPE_GOLDEN_DIR} + "/tensorflow-v2";
  auto disk = memory_disk::make();
  REQUIRE(disk->create_directories("/t"));
  for (const char* name : {"types.index", "types.data-00000-of-00001"})
    REQUIRE(write_file_atomically(*disk, "/t", name, read_file(*posix_file_system(), golden + "/" + name).value()));
  const auto mine = converted(disk, "/t/types", "/mine");
  CHECK_MESSAGE(mine.step == 0, "there is no global_step, and no number in the name");
  std::map<std::string, std::string> left;
  for (const auto& l : mine.left)
    left[l.name] = l.reason;
  CHECK(left.at("texts") == "it holds texts, and tensors of Troupe hold numbers");
  CHECK(left.at("types/float16") == "it is float16[2, 3], and Troupe has no such tensors");
  CHECK(left.size() == 10);
  const auto made = std::find_if(mine.tensors.begin(), mine.tensors.end(), [](const auto& t) { return t.made; });
  REQUIRE(made != mine.tensors.end());
  CHECK(made->name == "global_step");
  const auto file = converted(disk, "/t/types", "/all.safetensors");
  REQUIRE(file.left.size() == 2);
  CHECK(file.left[0].name == "texts");
  CHECK(file.left[1].name == "types/complex128");
  const auto again = converted(disk, "/all.safetensors", "/tf");
  CHECK(again.left.empty());
  const auto bytes = [&](const char* path, const char* name) {
    auto archive = open_archive(disk, path).value();
    const auto* t = archive->find(name);
    const auto read = archive->read_bytes(*t).value();
    return std::string{reinterpret_cast<const char*>(read.get()), static_cast<size_t>(t->bytes)};
  };
  for (const char* name : {"types/bfloat16", "types/complex64", "types/uint64", "sliced/columns"})
    CHECK_MESSAGE(bytes("/tf", name) == bytes("/t/types", name), name);
}

TEST_CASE("a real Estimator's checkpoint comes back with its names and bits where it is converted like itself") {
  const std::string golden = std::string{TROUPE_GOLDEN_DIR} + "/tensorflow-v2/estimator/";
  auto disk = memory_disk::make();
  REQUIRE(disk->create_directories("/tf"));
  for (const char* name : {"checkpoint", "model.ckpt-6.index", "model.ckpt-6.data-00000-of-00001"})
    REQUIRE(write_file_atomically(*disk, "/tf", name, read_file(*posix_file_system(), golden + name).value()));
  const auto mine = converted(disk, "/tf", "/mine");
  CHECK(mine.step == 6);
  REQUIRE(mine.left.size() == 2);
  CHECK(mine.left[0].name == "dnn/head/beta1_power");
  CHECK(values_of(disk, "/mine").contains("dnn/logits/kernel/Adam_1"));
  converted(disk, "/mine", "/back", {.like = "/tf"});
  const auto wanted = values_of(disk, "/tf"), back = values_of(disk, "/back");
  REQUIRE(back.size() == wanted.size());
  for (const auto& [name, value] : wanted)
    if (name.ends_with("_power"))
      CHECK(back.at(name).as<float>()[0] == doctest::Approx(value.as<float>()[0]));
    else
      CHECK_MESSAGE(back.at(name) == value, name);
  CHECK(refused(disk, "/mine", "/w.safetensors", {.like = "/tf"}).category == errc::invalid_argument);
  CHECK(refused(disk, "/mine", "/x", {.like = "/mine"}).message
        == "/mine/model.ckpt-6 is no TensorFlow checkpoint whose names could be used");
}

TEST_CASE("nothing is overwritten: a directory with checkpoints, or a file that exists, is refused and stays") {
  const auto disk = trained();
  converted(disk, "/m", "/tf");
  const auto before = read_file(*disk, "/tf/checkpoint").value();
  CHECK(has(refused(disk, "/m", "/tf").message, "/tf holds checkpoints already, as its file checkpoint shows"));
  CHECK(refused(disk, "/tf", "/m").category == errc::failed_precondition);
  CHECK(refused(disk, "/tf", "/tf", {.format = checkpoint_format::troupe}).category == errc::failed_precondition);
  CHECK(read_file(*disk, "/tf/checkpoint").value() == before);
  converted(disk, "/m", "/w.safetensors");
  CHECK(has(refused(disk, "/m", "/w.safetensors").message, "/w.safetensors exists"));
  CHECK(refused(disk, "/m", "/w.safetensors/x").category != errc::state);
}

TEST_CASE("of two conversions to one directory the one that owns it first is kept, and the other is refused") {
  const auto disk = trained();
  auto others = sample(4);
  others.tensors[0].value = numbers({3, 5}, -7);
  REQUIRE(open_store(disk, {}, "/n")->commit(others));
  converted(disk, "/m", "/m_tf");
  converted(disk, "/n", "/n_tf");
  const auto hurried = std::make_shared<hurried_disk>(disk);
  for (const auto& [first, second, format] :
       {std::tuple{"/m", "/n", checkpoint_format::tensorflow}, {"/m_tf", "/n_tf", checkpoint_format::troupe}}) {
    const auto to = "/to_" + std::string{to_string(format)};
    hurried->before = [&, &from = first, &as = format] { converted(disk, from, to, {.format = as}); };
    CHECK(has(refused(hurried, second, to, {.format = format}).message, to + " holds checkpoints already"));
    CHECK(values_of(disk, to).at("dense/kernel") == values_of(disk, "/m").at("dense/kernel"));
    REQUIRE(disk->create_directories(to + "/free"));
    const auto owner = disk->lock(to + "/free");
    CHECK(refused(disk, second, to + "/free", {.format = format}).category == errc::failed_precondition);
    CHECK(names_in(*disk, to + "/free").empty());
  }
}

TEST_CASE("what cannot be is refused before anything is written") {
  const auto disk = trained();
  CHECK(refused(disk, "/nowhere", "/x").category == errc::not_found);
  CHECK(refused(disk, "/m", "").message == "the destination of a conversion must not be ''");
  CHECK(refused(disk, "/m", "/x", {.beta1 = 1}).message == "beta1 must be in [0, 1), not 1");
  CHECK(refused(disk, "/m", "/x", {.step = 9}).category == errc::not_found);
  CHECK(refused(disk, "/m", "/x.safetensors", {.format = checkpoint_format::tensorflow}).category
        == errc::invalid_argument);
  CHECK_FALSE(disk->info("/x"));
}

TEST_CASE("a tensor that is damaged is an error, and nothing is left of the conversion") {
  const auto disk = trained();
  const std::string shard = "model.ckpt-4-00000-of-00001.safetensors";
  auto bytes = read_file(*disk, "/m/" + shard).value();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  REQUIRE(write_file_atomically(*disk, "/m", shard, bytes));
  for (const auto& [to, format] :
       {std::pair{"/tf", checkpoint_format::tensorflow}, std::pair{"/mine", checkpoint_format::troupe},
        std::pair{"/w.safetensors", checkpoint_format::safetensors}}) {
    CHECK(refused(disk, "/m", to, {.format = format}).category == errc::data_loss);
    const auto files = disk->list(to);
    CHECK((!files || files->empty()));
    CHECK_FALSE(disk->info(std::string{to} + ".tmp"));
  }
}

TEST_CASE(
    "a conversion that fails at any call of the disk leaves what TensorFlow takes for a checkpoint only if it is "
    "whole") {
  for (int64_t calls = 0;; ++calls) {
    const auto disk = trained();
    const auto faulty = faulty_file_system::around(disk);
    faulty->fail_after(calls, true);
    const auto done = convert_archive(faulty, "/m", "/tf", {}, 0);
    if (disk->info("/tf/checkpoint"))
      CHECK(values_of(disk, "/tf").size() == sample(4).tensors.size() + 4);
    else
      CHECK_FALSE(done);
    if (faulty->failures() == 0)
      break;
  }
}

}  // namespace troupe
