// TensorFlow's checkpoints (tests/golden/tensorflow-v2), and our checkpoints in its format.
#include "storage/tensorflow/tensor_bundle.hpp"

#include "storage/encodings/crc32c.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "storage/tensorflow/sorted_table.hpp"
#include "storage/tensorflow/table_layout.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

#include <nlohmann/json.hpp>

using namespace std::string_literals;

namespace troupe {

using namespace table_layout;

namespace {

const std::string golden = std::string{TROUPE_GOLDEN_DIR} + "/tensorflow-v2";

const nlohmann::json& values() {
  static const auto all = nlohmann::json::parse(read_file(*posix_file_system(), golden + "/values.json").value());
  return all;
}

template <class T>
bool same_numbers(const std::byte* bytes, const nlohmann::json& wanted) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof value, sizeof value);
    if (static_cast<double>(value)
        != (wanted[i].is_boolean() ? static_cast<double>(wanted[i].get<bool>()) : wanted[i].get<double>()))
      return false;
  }
  return true;
}

/// A half-precision number as a double. It need not handle subnormal numbers: the golden file has whole numbers.
template <int mantissa, int bias>
double widened(uint16_t bits) {
  const int exponent = bits >> mantissa;
  return exponent == 0
             ? 0
             : std::ldexp(1.0 + (bits & ((1 << mantissa) - 1)) / static_cast<double>(1 << mantissa), exponent - bias);
}
template <int mantissa, int bias>
bool same_halves(const std::byte* bytes, const nlohmann::json& wanted) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, bytes + i * sizeof bits, sizeof bits);
    if (widened<mantissa, bias>(bits) != wanted[i].get<double>())
      return false;
  }
  return true;
}

bool same_as_golden(tensor_bundle& bundle, const bundle_tensor& t, const nlohmann::json& wanted) {
  const auto type = t.type->name;
  if (type == "string")
    return bundle.read_texts(t).value() == wanted.get<std::vector<std::string>>();
  const auto read = bundle.read(t);
  REQUIRE_MESSAGE(read, t.name << (read ? "" : ": " + read.error().message));
  const auto* bytes = read->get();
  return type == "float32"    ? same_numbers<float>(bytes, wanted)
         : type == "float64"  ? same_numbers<double>(bytes, wanted)
         : type == "int8"     ? same_numbers<int8_t>(bytes, wanted)
         : type == "int16"    ? same_numbers<int16_t>(bytes, wanted)
         : type == "int32"    ? same_numbers<int32_t>(bytes, wanted)
         : type == "int64"    ? same_numbers<int64_t>(bytes, wanted)
         : type == "uint8"    ? same_numbers<uint8_t>(bytes, wanted)
         : type == "uint16"   ? same_numbers<uint16_t>(bytes, wanted)
         : type == "uint32"   ? same_numbers<uint32_t>(bytes, wanted)
         : type == "uint64"   ? same_numbers<uint64_t>(bytes, wanted)
         : type == "boolean"  ? same_numbers<uint8_t>(bytes, wanted)
         : type == "float16"  ? same_halves<10, 15>(bytes, wanted)
         : type == "bfloat16" ? same_halves<7, 127>(bytes, wanted)
                              : false;
}

/// A disk in memory with the golden checkpoint "types".
std::shared_ptr<memory_disk> copied() {
  auto disk = memory_disk::make();
  REQUIRE(disk->create_directories("/t"));
  for (const char* name : {"types.index", "types.data-00000-of-00001"})
    REQUIRE(write_file_atomically(*disk, "/t", name, read_file(*posix_file_system(), golden + "/" + name).value()));
  return disk;
}
const std::string data_path = "/t/types.data-00000-of-00001";

bundle_source source_of(const std::string& name, const tensor& value) {
  const auto extents = value.dims().extents();
  return {name, &element_type_of(value.type()), {extents.begin(), extents.end()}, [value] { return value.buffer(); }};
}

}  // namespace

TEST_CASE("every data type that TensorFlow has written, texts and slices are read, value by value") {
  const auto files = posix_file_system();  // It must outlive the bundle, which reads from it.
  auto bundle = tensor_bundle::open(*files, golden + "/types");
  REQUIRE_MESSAGE(bundle, (bundle ? "" : bundle.error().message));
  CHECK(bundle->shards() == 1);
  CHECK(bundle->producer() == 1);
  size_t compared = 0;
  for (const auto& t : bundle->tensors()) {
    CHECK_FALSE(t.problem);
    CHECK(bundle->verify(t));
    if (t.type->name.starts_with("complex"))
      continue;
    REQUIRE(values().contains(t.name));
    CHECK_MESSAGE(same_as_golden(*bundle, t, values()[t.name]), t.name);
    ++compared;
  }
  CHECK(compared == 13 + 3 + 3);
  CHECK(bundle->find("types/complex128")->bytes == 6 * 16);
  CHECK(bundle->find("sliced/rows")->pieces.size() == 3);
  CHECK(bundle->find("sliced/rows")->extents == std::vector<int64_t>{10, 7});
  CHECK(bundle->find("nothing") == nullptr);
}

TEST_CASE("a flipped bit of any tensor is damage that names the file, the tensor and its offset") {
  const auto disk = copied();
  const std::string bytes = read_file(*disk, data_path).value();
  const auto sound = tensor_bundle::open(*disk, "/t/types");
  for (const auto& t : sound->tensors())
    for (const auto& p : t.pieces) {
      if (p.bytes == 0)
        continue;
      std::string other = bytes;
      const auto at = static_cast<size_t>(p.offset + p.bytes / 2);
      other[at] = static_cast<char>(other[at] ^ 1);
      REQUIRE(write_file_atomically(*disk, "/t", "types.data-00000-of-00001", other));
      auto bundle = tensor_bundle::open(*disk, "/t/types");
      const auto found = bundle->verify(*bundle->find(t.name));
      REQUIRE_MESSAGE(!found, t.name);
      CHECK(found.error().category == errc::data_loss);
      CHECK(has(found.error().message, data_path + ": tensor " + t.name + " at offset "));
    }
}

TEST_CASE("a data file that is missing or cut off is an error of its tensors alone") {
  const auto disk = copied();
  const std::string bytes = read_file(*disk, data_path).value();
  REQUIRE(write_file_atomically(*disk, "/t", "types.data-00000-of-00001", bytes.substr(0, bytes.size() / 2)));
  auto cut = tensor_bundle::open(*disk, "/t/types");
  size_t whole = 0;
  for (const auto& t : cut->tensors())
    if (const auto found = cut->verify(t); found)
      ++whole;
    else
      CHECK(has(found.error().message, "bytes at offset"));
  CHECK(whole > 0);
  CHECK(whole < cut->tensors().size());
  REQUIRE(disk->remove(data_path));
  auto without = tensor_bundle::open(*disk, "/t/types");
  REQUIRE(without);
  CHECK(without->read(*without->find("scalar")).error().category == errc::not_found);
}

TEST_CASE("what is written is read back, also without tensors and without elements") {
  const auto disk = memory_disk::make();
  REQUIRE(disk->create_directories("/m"));
  const std::vector<std::pair<std::string, tensor>> all{{"w", numbers({3, 5}, 1)},
                                                        {"flags", tensor::of<bool>({2}, {true, false})},
                                                        {"none", tensor::zeros(dtype::float64, {0, 2})},
                                                        {"global_step", tensor::scalar<int64_t>(7)}};
  std::vector<bundle_source> sources;
  for (const auto& [name, value] : all)
    sources.push_back(source_of(name, value));
  REQUIRE(write_bundle(*disk, "/m", "model.ckpt-7", sources));
  auto bundle = tensor_bundle::open(*disk, "/m/model.ckpt-7");
  REQUIRE_MESSAGE(bundle, (bundle ? "" : bundle.error().message));
  CHECK(bundle->tensors().size() == all.size());
  for (const auto& [name, value] : all) {
    const auto* t = bundle->find(name);
    REQUIRE(t);
    const auto read = bundle->read(*t);
    REQUIRE(read);
    CHECK(tensor{value.type(), value.dims(), *read} == value);
  }
  CHECK(disk->list("/m")->size() == 2);
  REQUIRE(write_bundle(*disk, "/m", "nothing", {}));
  CHECK(tensor_bundle::open(*disk, "/m/nothing")->tensors().empty());
  CHECK(has(write_bundle(*disk, "/m", "x", {sources[0], sources[0]}).error().message, "cannot be written as 'w'"));
}

TEST_CASE("a write that fails at any call of the disk leaves a whole checkpoint or none, and no other file") {
  const auto write = [](file_system& fs) {
    return write_bundle(fs, "/m", "model.ckpt-1", {source_of("w", numbers({100}, 1))});
  };
  for (int64_t calls = 0;; ++calls) {
    const auto disk = memory_disk::make();
    REQUIRE(disk->create_directories("/m"));
    const auto faulty = faulty_file_system::around(disk);
    faulty->inject({.nth = calls + 1});
    const auto done = write(*faulty);
    const auto names = *disk->list("/m");
    if (auto bundle = tensor_bundle::open(*disk, "/m/model.ckpt-1"))
      CHECK(bundle->verify(bundle->tensors().front()));
    else
      CHECK_MESSAGE(names.empty(), "after call " << calls << ": " << names.front().name);
    if (faulty->failures() == 0) {
      CHECK(done);
      CHECK(calls > 8);
      break;
    }
    CHECK_FALSE(done);
  }
}

TEST_CASE("an index that says what cannot be is refused, or its tensor is") {
  CHECK(tensor_bundle::open(*memory_file_system(), "/m/model.ckpt-1").error().category == errc::not_found);
  // The keys of slices are as in TensorFlow: "ordered code", whose bytes sort as the values do.
  const std::vector<int64_t> starts{0, 100};
  const std::vector<std::optional<int64_t>> lengths{std::nullopt, 200};
  CHECK(bundle_slice_key("a\0b\xff"s, starts, lengths) == "\0a\0\xff"s + "b\xff\0\0\1\1\2\x80\x7f\xc0\x64\xc0\xc8"s);
}

TEST_CASE("a tensor without elements is read only with the checksum of no bytes") {
  const auto opened = [](uint32_t checksum) {
    auto files = memory_file_system();
    std::string entry{"\x08\x01\x12\x04\x12\x02\x08\x00\x35", 9};  // float32, one extent of 0; the checksum follows.
    append_fixed(entry, masked(checksum));
    const auto index = write_sorted_table(
        std::vector<table_entry>{{"", std::string{"\x08\x01\x1a\x02\x08\x01", 6}}, {"a", entry}}, {});
    REQUIRE(files->create_directories("/m"));
    REQUIRE(write_file_atomically(*files, "/m", "f.index", {index}));
    REQUIRE(write_file_atomically(*files, "/m", "f.data-00000-of-00001", {std::string_view{}}));
    auto bundle = tensor_bundle::open(*files, "/m/f");
    REQUIRE(bundle);
    REQUIRE(bundle->tensors().size() == 1);
    const auto& t = bundle->tensors().front();
    const auto read = bundle->read(t);
    CHECK(read.has_value() == bundle->verify(t).has_value());
    return read ? "" : read.error().message;
  };
  CHECK(opened(0) == "");
  CHECK(has(opened(7), "tensor a at offset 0 has the checksum 00000000 and should have 00000007"));
}

}  // namespace troupe
