#include "storage/encodings/sealed_text.hpp"

#include "storage/encodings/crc32c.hpp"

namespace troupe {

namespace {

constexpr std::string_view ending = "\"\n}\n";

}  // namespace

std::string seal(std::string text) {
  return text.replace(text.size() - ending.size() - unsealed.size(), unsealed.size(), crc32c_text(crc32c(text)));
}

expected<void> unseal(std::string& text, std::string_view member) {
  const std::string before = "\"" + std::string{member} + "\": \"";
  const size_t size = before.size() + unsealed.size() + ending.size();
  if (text.size() < size || !text.ends_with(ending) || text.compare(text.size() - size, before.size(), before) != 0)
    return fail(errc::data_loss, "it does not end in its checksum (" + std::to_string(text.size()) + " bytes)");
  const size_t at = text.size() - ending.size() - unsealed.size();
  const std::string wanted = text.substr(at, unsealed.size());
  text.replace(at, unsealed.size(), unsealed);
  const std::string found = crc32c_text(crc32c(text));
  if (found != wanted)
    return fail(errc::data_loss, "its checksum is " + found + " and should be " + wanted);
  return {};
}

}  // namespace troupe
