#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/checkpoints/manifest.hpp"
#include "storage/encodings/crc32c.hpp"
#include "tests/fuzz/target.hpp"

namespace troupe::fuzz {

namespace {

constexpr checkpoint_id id{7, 2};

/// The input with the right checksum, which no mutation would ever hit.
std::string repaired(std::string text) {
  // A quote, a newline, a brace and a newline end the text.
  constexpr size_t digits = 8, after = 4;
  if (text.size() < digits + after)
    return text;
  const size_t at = text.size() - after - digits;
  text.replace(at, digits, std::string(digits, '0'));
  return text.replace(at, digits, crc32c_text(crc32c(text)));
}

}  // namespace

std::vector<std::string> seeds() {
  auto files = memory_file_system();
  auto store = need(checkpoint_store::open(files, "/m", {}));
  need(store->commit({.id = id,
                      .tensors = {{"kernel", tensor::zeros(dtype::float32, {2, 3})}, {"flag", tensor::scalar(true)}},
                      .blobs = {{"infeed/0", std::string("\0\xff", 2)}},
                      .properties = {{"finished", "false"}}}));
  const auto whole = need(read_file(*files, "/m/" + manifest_name(id)));
  std::vector<std::string> all{whole};
  for (const auto& value : {nested("[", "", "]"), nested("{\"a\":", "1", "}")}) {
    const std::string_view text = "\"false\"";
    all.push_back(std::string{whole}.replace(whole.find(text), text.size(), value));
  }
  return all;
}

void run(std::string_view input) {
  const auto m = parse_manifest(repaired(std::string{input}), "f", id);
  if (!m)
    return;
  const std::string again = need(write_manifest(*m));
  require(need(write_manifest(need(parse_manifest(again, "f", id)))) == again, "a manifest is read as it is written");
}

}  // namespace troupe::fuzz
