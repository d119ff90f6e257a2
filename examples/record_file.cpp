// Writes a record file of examples, or shows what is in one: `record_file write|show PATH [none|zlib|gzip]`.
#include <troupe/tfrecord.hpp>
#include <troupe/troupe.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>

namespace tr = troupe;

namespace {

tr::expected<void> write(const std::string& path, tr::compression how) {
  auto file = tr::record_writer::create(path, how);
  if (!file)
    return tr::fail(file.error());
  for (int64_t i = -5; i < 1000; ++i) {
    const auto bytes = tr::encode_example(
        {{{"number", std::vector<int64_t>{i, i * i}},
          {"root", std::vector<float>{std::sqrt(std::abs(static_cast<float>(i)))}},
          {"text", tr::byte_strings{"record " + std::to_string(i), std::string("\0\xff", 2)}}}});
    if (!bytes)
      return tr::fail(bytes.error());
    if (auto written = file->write(*bytes); !written)
      return written;
  }
  return file->close();
}

/// "int64[7,49]"; strings in hexadecimal digits.
std::string shown(const tr::example::feature& feature) {
  std::string text;
  char digits[32];
  const auto add = [&](const char* format, auto value) {
    std::snprintf(digits, sizeof digits, format, value);
    text += digits;
  };
  if (const auto* integers = std::get_if<std::vector<int64_t>>(&feature))
    for (const auto x : *integers)
      add(text.empty() ? "%lld" : ",%lld", static_cast<long long>(x));
  if (const auto* floats = std::get_if<std::vector<float>>(&feature))
    for (const auto x : *floats)
      add(text.empty() ? "%.9g" : ",%.9g", static_cast<double>(x));
  if (const auto* strings = std::get_if<tr::byte_strings>(&feature))
    for (size_t i = 0; i < strings->size(); ++i) {
      text += i == 0 ? "" : ",";
      for (const char c : (*strings)[i])
        add("%02x", static_cast<unsigned char>(c));
    }
  constexpr const char* kinds[] = {"nothing", "bytes", "float", "int64"};
  return kinds[feature.index()] + ("[" + text + "]");
}

tr::expected<void> show(const std::string& path, tr::compression how) {
  auto file = tr::record_reader::open(path, how);
  if (!file)
    return tr::fail(file.error());
  for (;;) {
    const auto record = file->next();
    if (!record)
      return tr::fail(record.error());
    if (!*record)
      return {};
    const auto example = tr::decode_example(**record);
    if (!example)
      return tr::fail(example.error());
    for (const auto& [name, feature] : example->features)
      std::cout << name << '=' << shown(feature) << ' ';
    std::cout << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "", how = argc > 3 ? argv[3] : "none";
  auto compression = tr::compression::none;
  while (to_string(compression) != how && compression != tr::compression::gzip)
    compression = static_cast<tr::compression>(static_cast<int>(compression) + 1);
  if (argc < 3 || argc > 4 || to_string(compression) != how || (what != "write" && what != "show")) {
    std::cerr << "usage: record_file write|show PATH [none|zlib|gzip]\n";
    return 2;
  }
  const auto done = what == "write" ? write(argv[2], compression) : show(argv[2], compression);
  return done ? 0 : tr::print_error(done.error());
}
