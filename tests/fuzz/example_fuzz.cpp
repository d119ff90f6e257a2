#include "storage/records/example_columns.hpp"
#include "tests/fuzz/target.hpp"

#include <troupe/tfrecord.hpp>

namespace troupe::fuzz {

std::vector<std::string> seeds() {
  return {
      need(encode_example(
          {{{"b", byte_strings{"ab", ""}}, {"f", std::vector<float>{1, 2}}, {"i", std::vector<int64_t>{-1, 300}}}})),
      need(encode_example(
          {{{"b", byte_strings{"abc"}}, {"f", std::vector<float>{1, 2}}, {"i", std::vector<int64_t>{7}}, {"n", {}}}}))};
}

void run(std::string_view input) {
  static auto columns = need(
      example_columns::of({{"b", dtype::uint8, {3}}, {"f", dtype::float32, {2}}, {"i", dtype::int32, {}}}));
  std::byte bytes[3];
  float floats[2];
  int32_t integer = 0;
  std::byte* const into[] = {bytes, reinterpret_cast<std::byte*>(floats), reinterpret_cast<std::byte*>(&integer)};
  const auto row = columns.read(input, into);
  const auto x = decode_example(input);
  require(x || !row || x.error().message == "a feature's name is not UTF-8", "a row comes of an example");
  if (!x)
    return;
  const std::string again = need(encode_example(*x));
  require(need(encode_example(need(decode_example(again)))) == again, "an example is encoded in one way");
}

}  // namespace troupe::fuzz
