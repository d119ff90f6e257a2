#include "input/streams/source_fingerprint.hpp"

#include "storage/encodings/crc32c.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <charconv>

namespace troupe::input {

namespace {

constexpr int64_t block_bytes = 4096;
constexpr std::string_view line_start = "source ";

/// Calls `visit(offset, bytes)` for each sampled block, in order. `size` is the number of bytes in total.
template <class Visit>
void for_each_block(int64_t size, int64_t budget, Visit visit) {
  if (size <= std::max(budget, block_bytes))
    return visit(int64_t{0}, size);
  const int64_t blocks = std::max<int64_t>(2, budget / block_bytes), room = size - block_bytes;
  for (int64_t i = 0; i < blocks; ++i)
    visit(room / (blocks - 1) * i + room % (blocks - 1) * i / (blocks - 1), block_bytes);
}

std::optional<uint32_t> sample(const readable_file& file, int64_t budget) {
  constexpr int64_t part_max = 1 << 20;
  std::vector<std::byte> buffer(static_cast<size_t>(std::min(part_max, file.size())));
  uint32_t crc = 0;
  bool readable = true;
  for_each_block(file.size(), budget, [&](int64_t offset, int64_t bytes) {
    for (int64_t done = 0; readable && done < bytes; done += part_max) {
      const auto part = std::span{buffer}.first(static_cast<size_t>(std::min(part_max, bytes - done)));
      readable = file.read(offset + done, part).has_value();
      crc = crc32c(part, crc);
    }
  });
  return readable ? std::optional{crc} : std::nullopt;
}

std::string printed_name(const std::string& what) { return printable(file_name_of(what)); }

std::string written_text(int64_t seconds) {
  return seconds > 0 ? ", written " + time_text(static_cast<double>(seconds)) : "";
}

std::string description(const fingerprint_entry& p) {
  return std::to_string(p.bytes) + " bytes with the checksum " + crc32c_text(p.crc32c) + written_text(p.modified);
}

/// Groups the parts so that each group takes one line.
source_fingerprint grouped(const source_fingerprint& fingerprint) {
  if (fingerprint.size() <= lines_max)
    return fingerprint;
  const size_t each = (fingerprint.size() + lines_max - 1) / lines_max;
  source_fingerprint groups;
  for (size_t begin = 0; begin < fingerprint.size(); begin += each) {
    fingerprint_entry group = fingerprint[begin];
    const size_t end = std::min(begin + each, fingerprint.size());
    for (size_t i = begin + 1; i < end; ++i) {
      const uint32_t crc = fingerprint[i].crc32c;
      group.bytes += fingerprint[i].bytes;
      group.modified = std::max(group.modified, fingerprint[i].modified);
      group.crc32c = crc32c(std::as_bytes(std::span{&crc, 1}), group.crc32c);
    }
    if (end - begin > 1)
      group.what += " and the " + std::to_string(end - begin - 1) + " after it";
    groups.push_back(std::move(group));
  }
  return groups;
}

template <class T>
bool take(std::string_view& text, T& number, int base = 10) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (failed != std::errc{} || end == text.data() + text.size() || *end != ' ')
    return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return true;
}

std::optional<fingerprint_entry> parse_line(std::string_view line) {
  fingerprint_entry p;
  line.remove_prefix(line_start.size());
  if (!take(line, p.bytes) || !take(line, p.modified) || !take(line, p.crc32c, 16))
    return {};
  p.what = line;
  return p;
}

}  // namespace

uint32_t sample(std::span<const std::byte> bytes, int64_t budget) {
  uint32_t crc = 0;
  for_each_block(std::ssize(bytes), budget, [&](int64_t offset, int64_t count) {
    crc = crc32c(bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(count)), crc);
  });
  return crc;
}

std::optional<source_fingerprint> fingerprint_of_files(file_system& files, const std::vector<std::string>& paths,
                                                       int64_t budget) {
  source_fingerprint fingerprint;
  for (const auto& path : paths) {
    const auto info = files.info(path);
    const auto file = files.open(path);
    if (!info || !file)
      return {};
    const auto crc = sample(**file, budget / std::ssize(paths));
    if (!crc)
      return {};
    fingerprint.push_back({path, (*file)->size(), static_cast<int64_t>(info->modified), *crc});
  }
  return fingerprint;
}

std::string to_text(const source_fingerprint& fingerprint) {
  std::string text;
  for (const auto& p : grouped(fingerprint))
    text += std::string{line_start} + std::to_string(p.bytes) + " " + std::to_string(p.modified) + " "
            + crc32c_text(p.crc32c) + " " + printed_name(p.what) + "\n";
  return text;
}

bool begins_fingerprint(std::string_view state) noexcept { return state.starts_with(line_start); }

std::vector<std::string> take_differences(std::string_view& state, const source_fingerprint& fingerprint) {
  source_fingerprint saved;
  while (begins_fingerprint(state)) {
    const auto line = state.substr(0, state.find('\n'));
    const auto part = parse_line(line);
    if (!part)
      break;  // The caller rejects the remainder.
    saved.push_back(*part);
    state.remove_prefix(std::min(line.size() + 1, state.size()));
  }
  const auto here = grouped(fingerprint);
  std::vector<std::string> differences;
  if (saved.empty() || here.empty())
    return differences;
  if (saved.size() != here.size())
    return {"the position was saved with data in " + std::to_string(saved.size()) + " parts, and here are "
            + std::to_string(here.size()) + ", from " + here.front().what + " on: it may mean other examples now"};
  for (size_t i = 0; i < here.size(); ++i)
    if (here[i].bytes != saved[i].bytes || here[i].crc32c != saved[i].crc32c)
      differences.push_back(here[i].what + " holds other data than when the position was saved ("
                            + description(saved[i]) + "; now " + description(here[i])
                            + "): reading goes on in them at the same place");
  return differences;
}

}  // namespace troupe::input
