// The data of the example char_model: a text as numbers, one a character.
#pragma once

#include <troupe/error.hpp>

#include <zlib.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

/// A text over an alphabet of its own: `kinds` characters, numbered from 0 in the order of their code points.
struct text {
  std::vector<int32_t> characters;
  int32_t kinds = 0;
};

/// UTF-8 as code points. A byte that is no part of a character is one by itself, as in Latin-1.
inline std::vector<char32_t> code_points(const std::string& bytes) {
  std::vector<char32_t> points;
  for (size_t i = 0; i < bytes.size();) {
    const auto at = [&bytes, i](size_t k) {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u;
    };
    const unsigned lead = at(0);
    const size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    char32_t point = more == 0 ? lead : lead & (0x3fu >> more);
    bool whole = true;
    for (size_t k = 1; k <= more; ++k) {
      whole = whole && (at(k) & 0xc0u) == 0x80u;
      point = point << 6 | (at(k) & 0x3fu);
    }
    points.push_back(whole ? point : lead);
    i += whole ? more + 1 : 1;
  }
  return points;
}

inline text numbered(const std::vector<char32_t>& points) {
  std::map<char32_t, int32_t> numbers;
  for (const char32_t p : points)
    numbers.emplace(p, 0);
  text result;
  for (auto& [point, number] : numbers)
    number = result.kinds++;
  result.characters.reserve(points.size());
  for (const char32_t p : points)
    result.characters.push_back(numbers.at(p));
  return result;
}

/// The text in a file, plain or gzip'ed. not_found, data_loss.
inline troupe::expected<text> read_text(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file{gzopen(path.c_str(), "rb"), gzclose};
  if (!file)
    return troupe::fail(troupe::errc::not_found, path + " cannot be opened");
  std::string bytes;
  char some[1 << 16];
  for (int read; (read = gzread(file.get(), some, sizeof some)) > 0;)
    bytes.append(some, static_cast<size_t>(read));
  int trouble = Z_OK;  // A file that is cut off ends without a complaint of gzread's.
  const char* what = gzerror(file.get(), &trouble);
  if (trouble != Z_OK)
    return troupe::fail(troupe::errc::data_loss, path + " cannot be read to its end: " + what);
  return numbered(code_points(bytes));
}
