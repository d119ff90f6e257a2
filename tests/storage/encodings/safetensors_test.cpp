#include "storage/encodings/safetensors.hpp"

#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

namespace troupe {

namespace {

std::string with_length(const std::string& header, const std::string& data = "") {
  std::string bytes(8, '\0');
  for (size_t i = 0; i < 8; ++i)
    bytes[i] = static_cast<char>(header.size() >> (8 * i));
  return bytes + header + data;
}

expected<std::vector<tensor_place>> header_of(std::string_view bytes) {
  auto fs = memory_file_system();
  REQUIRE(write_file_atomically(*fs, "", "f", bytes));
  return read_safetensors_header(*fs->open("f").value(), "f");
}

}  // namespace

TEST_CASE("a shard is a safetensors file: its header places every tensor, its data begin at a multiple of 64") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  commit(*store, 1);
  const std::string path = "/m/model.ckpt-1-00000-of-00001.safetensors";
  const auto file = fs->open(path).value();
  const auto places = read_safetensors_header(*file, path);
  REQUIRE(places);
  REQUIRE(places->size() == sample(1).tensors.size());
  CHECK(places->front().offset % 64 == 0);
  for (const auto& place : *places) {
    CHECK(place.offset % size_of(place.type) == 0);
    const auto content = sample(1);
    const auto wanted = std::find_if(content.tensors.begin(), content.tensors.end(),
                                     [&](const auto& t) { return t.name == place.name; });
    REQUIRE(wanted != content.tensors.end());
    CHECK(read_tensor(*file, path, place)->value == wanted->value);
  }
}

TEST_CASE("a header that nests a hundred thousand deep is damaged, in its metadata too, and nothing worse") {
  const std::string open(100'000, '['), close(100'000, ']');
  for (const auto& header :
       {R"({"__metadata__":{"a":)" + open + close + "}}", R"({"a":)" + open + close + "}", open + close}) {
    const auto read = header_of(with_length(header));
    REQUIRE_FALSE(read);
    CHECK(read.error().category == errc::data_loss);
    CHECK(has(read.error().message, "f: the header at byte 8 nests deeper than 64 at byte "));
  }
}

TEST_CASE("a header of another writer is read: metadata, any order, no padding") {
  const auto places = header_of(with_length(
      R"({"__metadata__":{"format":"pt","more":[1,{"a":"]"}]},"b":{"dtype":"U8","shape":[3],"data_offsets":[4,7]},)"
      R"("a":{"dtype":"I32","shape":[],"data_offsets":[0,4]}})",
      "1234567"));
  REQUIRE(places);
  REQUIRE(places->size() == 2);
  CHECK((*places)[0].name == "a");
  CHECK((*places)[0].dims == shape{});
  CHECK((*places)[1].bytes == 3);
  CHECK(header_of(with_length("{}"))->empty());
}

TEST_CASE(
    "headers that cannot be are refused, naming file, tensor and offset, before anything of their size is allocated") {
  const auto refused = [](const std::string& bytes, errc category, std::string_view names) {
    const auto places = header_of(bytes);
    REQUIRE_FALSE(places);
    CHECK_MESSAGE(places.error().category == category, to_text(places.error()));
    CHECK(has(places.error().message, names));
  };
  refused("", errc::data_loss, "f ");
  refused("1234567", errc::data_loss, "f ");
  refused(std::string(8, '\xff'), errc::data_loss, "18446744073709551615 bytes");
  refused(with_length("{}").substr(0, 9), errc::data_loss, "byte 8");
  refused(with_length("[]"), errc::data_loss, "JSON object");
  refused(with_length("{\"a\""), errc::data_loss, "JSON object");
  refused(with_length(R"({"a":{"dtype":"U8","shape":[3]}})", "123"), errc::data_loss, "tensor a");
  refused(with_length(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,2]}})", "12"), errc::data_loss, "tensor a");
  refused(with_length(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", "12"), errc::data_loss, "tensor a");
  refused(with_length(R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,0]}})"), errc::data_loss, "tensor a");
  refused(with_length(R"({"a":{"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,0]}})"), errc::data_loss,
          "tensor a");
  refused(with_length(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", "12"), errc::data_loss,
          "tensor a begins");
  refused(with_length(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "12"), errc::data_loss,
          "last tensor ends");
  refused(with_length(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                      R"("b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                      "12"),
          errc::data_loss, "tensor b begins");
  refused(with_length(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                      R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                      "12"),
          errc::data_loss, "tensor a is there twice");
  refused(with_length(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[-1,1]}})", "1"), errc::data_loss,
          "tensor a has an impossible shape or offset");
  refused(with_length(R"({"a":{"dtype":"U8","shape":[1.5],"data_offsets":[0,1]}})", "1"), errc::data_loss,
          "tensor a has an extent that is not a whole");
  refused(with_length(R"({"a":{"dtype":"F8","shape":[1],"data_offsets":[0,1]}})", "1"), errc::unimplemented, "F8");
  refused(with_length(R"({"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})", "1"),
          errc::unimplemented, "rank 9");
}

}  // namespace troupe
