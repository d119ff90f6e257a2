#include "storage/checkpoints/manifest.hpp"

#include "storage/checkpoints/state_file.hpp"
#include "storage/encodings/base64.hpp"
#include "storage/encodings/crc32c.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

namespace troupe {

namespace {

manifest one_tensor() {
  const std::string file = "model.ckpt-3-00000-of-00001.safetensors";
  return {.id = {3},
          .files = {{file, 72, 64, 0x1234abcd}},
          .tensors = {{"w", dtype::float32, {2}, 0xdeadbeef, file, 64, 8}},
          .blobs = {{"b", std::string("\0\1\2", 3)}},
          .properties = {{"p", "a \"quoted\" text"}}};
}

/// `text` with `from` replaced by `to` and with a correct checksum, as from a faulty or hostile writer.
std::string forged(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  text.replace(text.size() - 12, 8, "00000000");
  return text.replace(text.size() - 12, 8, crc32c_text(crc32c(text)));
}

}  // namespace

TEST_CASE("a manifest that nests a hundred thousand deep under a right checksum is damaged, and nothing worse") {
  const size_t depth = 100'000;
  const auto text = *write_manifest(one_tensor());
  for (const auto& [open, close] :
       {std::pair{std::string{"["}, std::string{"]"}}, {std::string{"{\"a\":"}, std::string{"}"}}}) {
    std::string nested;
    for (size_t i = 0; i < depth; ++i)
      nested += open;
    nested += "1";
    for (size_t i = 0; i < depth; ++i)
      nested += close;
    const auto read = parse_manifest(forged(text, "\"a \\\"quoted\\\" text\"", nested), "f", {3});
    REQUIRE_FALSE(read);
    CHECK(read.error().category == errc::data_loss);
    CHECK(has(read.error().message, "f: it nests deeper than 64 at byte "));
  }
}

TEST_CASE("CRC-32C of \"123456789\" is 0xe3069283, in one piece or in two") {
  CHECK(crc32c("123456789") == 0xe3069283);
  CHECK(crc32c("56789", crc32c("1234")) == 0xe3069283);
  CHECK(crc32c("") == 0);
  CHECK(crc32c_text(0x0306abcd) == "0306abcd");
}

TEST_CASE("base64 gives back any bytes, and takes one spelling only") {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    CHECK(from_base64(to_base64(bytes)) == bytes);
    bytes += static_cast<char>(i * 7);
  }
  CHECK(to_base64("Man") == "TWFu");
  CHECK(to_base64("Ma") == "TWE=");
  CHECK(to_base64("M") == "TQ==");
  for (const std::string text : {"T", "TWF", "TWF$", "TWF=", "T===", "TQ==TQ==", "TR==", "TW=u"})
    CHECK_FALSE(from_base64(text));
}

TEST_CASE("a manifest is read back as it was written, and only as that of its step") {
  const auto text = write_manifest(one_tensor());
  REQUIRE(text);
  const auto back = parse_manifest(*text, "f", {3});
  REQUIRE_MESSAGE(back, (back ? "" : to_text(back.error())));
  CHECK(write_manifest(*back) == text);
  CHECK(back->blobs == one_tensor().blobs);
  CHECK(back->properties == one_tensor().properties);
  CHECK(parse_manifest(*text, "f", {4}).error().category == errc::data_loss);
}

TEST_CASE("a manifest whose checksum is right and whose content cannot be is refused before anything is allocated") {
  const auto text = write_manifest(one_tensor()).value();
  const auto refused = [&](const std::string& from, const std::string& to, errc category = errc::data_loss) {
    const auto parsed = parse_manifest(forged(text, from, to), "f", {3});
    REQUIRE_FALSE(parsed);
    CHECK_MESSAGE(parsed.error().category == category, to_text(parsed.error()));
    CHECK(has(parsed.error().message, "f: "));
  };
  refused("\"format_version\": 1", "\"format_version\": 2", errc::unimplemented);
  refused("troupe checkpoint", "another format");
  refused("\"bytes\": 8", "\"bytes\": 4611686018427387904");
  refused("\"offset\": 64", "\"offset\": 65");
  refused("\"offset\": 64", "\"offset\": -8");
  refused("\"offset\": 64", "\"offset\": 9223372036854775807");
  refused("    2\n", "    -2\n");
  refused("    2\n", "    4611686018427387904, 8\n");
  refused("    2\n", "    1,1,1,1,1,1,1,1,2\n");
  refused("float32", "float16");
  refused("\"header_bytes\": 64", "\"header_bytes\": 73");
  refused("\"name\": \"model.ckpt-3-00000", "\"name\": \"../model.ckpt-3-00000");
  refused("deadbeef", "DEADBEEF");
  refused("AAEC", "AAE!");
  refused("\"tensors\": [", "\"tensors\": 3, \"x\": [");
  refused("\"step\": 3", "\"step\": \"3\"");
  refused("{\n", "{{\n");
}

TEST_CASE("a state file is written as TensorFlow writes it") {
  CHECK(write_state_file(ids({5, 1200})) == "model_checkpoint_path: \"model.ckpt-1200\"\n"
                                       "all_model_checkpoint_paths: \"model.ckpt-5\"\nall_model_checkpoint_paths: "
                                       "\"model.ckpt-1200\"\n");
}

TEST_CASE("a state file's mistakes are told with line and column, and entries of other names with their text") {
  const auto wrong = parse_state_file("model_checkpoint_path: \"model.ckpt-1\"\nall_model_checkpoint_paths 3",
                                      "/m/checkpoint");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().category == errc::data_loss);
  CHECK(has(wrong.error().message, "/m/checkpoint: line 2, column"));

  const auto refused = [](const std::string& more) {
    return parse_state_file("model_checkpoint_path: \"model.ckpt-1\"\n" + more, "f").error().message;
  };
  CHECK(refused("model_checkpoint_path: \"model.ckpt-2\"")
        == "cannot understand the state file f: line 2, column 1: model_checkpoint_path is given twice");
  CHECK(refused("all_model_checkpoint_paths: 3")
        == "cannot understand the state file f: line 2, column 1: all_model_checkpoint_paths must be a string, not 3");
  CHECK(
      refused("last_preserved_timestamp: \"x\"")
      == "cannot understand the state file f: line 2, column 1: last_preserved_timestamp must be a number, not \"x\"");

  const auto mixed = parse_state_file(
      "model_checkpoint_path: \"model.ckpt-3\" all_model_checkpoint_paths: \"best\" "
      "all_model_checkpoint_paths: \"model.ckpt-1\" all_model_checkpoint_paths: \"model.ckpt-1\"",
      "f");
  REQUIRE(mixed);
  CHECK(mixed->ids == ids({1, 3}));
  CHECK(mixed->newest == checkpoint_id{3});
  REQUIRE(mixed->warnings.size() == 1);
  CHECK(has(mixed->warnings[0], "\"best\""));
  CHECK(parse_state_file("model_checkpoint_path: \"best\"", "f").error().category == errc::data_loss);
  CHECK(parse_state_file("model_checkpoint_path: \"best\" all_model_checkpoint_paths: \"model.ckpt-4\"", "f")->newest
        == checkpoint_id{4});
}

TEST_CASE("of a checkpoint that is listed again and again the last place counts, in a list as long as can be met") {
  constexpr int64_t count = 200'000;  // A search of the list for each entry would take minutes.
  std::string text = "model_checkpoint_path: \"model.ckpt-0\"\n";
  for (const bool again : {false, true})
    for (int64_t step = count; step-- > 0;)
      if (!again || step % 2 == 0)
        text += "all_model_checkpoint_paths: \"model.ckpt-" + std::to_string(step) + "\"\n";
  const auto state = parse_state_file(text, "f");
  REQUIRE(state);
  REQUIRE(state->ids.size() == count);
  CHECK(state->ids.front() == checkpoint_id{count - 1});
  CHECK(state->ids[count / 2 - 1] == checkpoint_id{1});
  CHECK(state->ids[count / 2] == checkpoint_id{count - 2});
  CHECK(state->ids.back() == checkpoint_id{0});
  CHECK(state->newest == checkpoint_id{0});
}

}  // namespace troupe
