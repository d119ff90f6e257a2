#include "storage/encodings/safetensors.hpp"
#include "tests/fuzz/target.hpp"

namespace troupe::fuzz {

std::vector<std::string> seeds() {
  std::vector<tensor_place> places{
      {"kernel", dtype::float32, {2, 3}}, {"empty", dtype::uint8, {0}}, {"step", dtype::int64, {}}};
  std::string bytes = need(lay_out_safetensors(places));
  for (const auto& p : places)
    bytes.append(static_cast<size_t>(p.bytes), '\1');
  const std::string
      foreign = R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  std::vector<std::string> all{
      bytes, std::string{static_cast<char>(foreign.size())} + std::string(7, '\0') + foreign + "\1\2\3\4"};
  for (const auto& header :
       {nested("[", "", "]"), nested("{\"a\":", "1", "}"), "{\"__metadata__\":{\"a\":" + nested("[", "", "]") + "}}"})
    all.push_back(std::string{static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)}
                  + std::string(6, '\0') + header);
  return all;
}

void run(std::string_view input) {
  const auto file = need(holding(input)->open("f"));
  const auto places = read_safetensors_header(*file, "f");
  if (!places)
    return;
  for (const auto& p : *places) {
    require(p.offset >= 0 && p.bytes >= 0 && p.offset <= file->size() - p.bytes, "a tensor lies within the file");
    const auto read = read_tensor(*file, "f", p);
    const auto sum = checksum_tensor(*file, "f", p);
    require(read && sum && read->crc32c == *sum && read->value.byte_size() == p.bytes,
            "a tensor that is placed is read");
  }
}

}  // namespace troupe::fuzz
