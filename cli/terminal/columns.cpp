#include "cli/terminal/columns.hpp"

#include <algorithm>
#include <numeric>

namespace troupe::cli {

namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

/// Calls `f` with each line, without its newline, and with whether it has one: the last line may have none.
template <class F>
void each_line(std::string_view text, F f) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    f(text.substr(0, end), end < text.size());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// The range in a line of a word, or of words that stay together.
struct word {
  size_t begin = 0, end = 0;
};

bool begins_number(std::string_view w) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !w.empty() && (digit(w[0]) || (w[0] == '-' && w.size() > 1 && digit(w[1])));
}

std::vector<word> words_of_line(std::string_view line) {
  std::vector<word> words;
  for (size_t at = line.find_first_not_of(' '); at < line.size(); at = line.find_first_not_of(' ', words.back().end))
    words.push_back({at, std::min(line.find(' ', at), line.size())});
  return words;
}

/// Joins each number to the word before it, unless both together are wider than `room`.
std::vector<word> with_numbers(std::string_view line, const std::vector<word>& words, size_t room) {
  std::vector<word> kept;
  bool after_number = true;  // In a row of numbers, none is joined to another.
  for (const auto& w : words) {
    const bool number = begins_number(line.substr(w.begin, w.end - w.begin));
    if (number && !after_number && columns_of(line.substr(kept.back().begin, w.end - kept.back().begin)) <= room)
      kept.back().end = w.end;
    else
      kept.push_back(w);
    after_number = number;
  }
  return kept;
}

void wrap_line(std::string_view line, size_t width, size_t more, std::string& into) {
  const auto single = words_of_line(line);
  if (single.empty())
    return;  // Only spaces.
  const size_t indentation = std::min(single.front().begin + more, width / 2);
  const auto words = with_numbers(line, single, width - std::min(width, std::max(indentation, single.front().begin)));
  size_t begin = 0, end = words.front().end, indented = 0;
  const auto end_piece = [&] {
    into.append(indented, ' ');
    into += line.substr(begin, end - begin);
  };
  for (size_t i = 1; i < words.size(); ++i) {
    if (indented + columns_of(line.substr(begin, words[i].end - begin)) > width) {
      end_piece();
      into += '\n';
      begin = words[i].begin;
      indented = indentation;
    }
    end = words[i].end;
  }
  end_piece();
}

}  // namespace

size_t columns_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

bool fits_in(std::string_view text, size_t width) {
  bool all = true;
  each_line(text, [&](std::string_view line, bool) { all = all && columns_of(line) <= width; });
  return all;
}

std::string shortened(std::string_view text, size_t width) {
  constexpr std::string_view more = "...";
  if (columns_of(text) <= width)
    return std::string{text};
  const size_t room = width - std::min(width, more.size());
  // The begin of the first character that does not fit. There is one, because the text is wider.
  size_t end = 0;
  for (size_t used = 0; !(begins_character(text[end]) && used == room); ++end)
    used += begins_character(text[end]) ? 1 : 0;
  return std::string{text.substr(0, end)} + std::string{more.substr(0, std::min(width, more.size()))};
}

std::string wrapped(std::string_view text, size_t width, size_t more) {
  std::string result;
  each_line(text, [&](std::string_view line, bool ended) {
    if (columns_of(line) <= width)
      result += line;
    else
      wrap_line(line, width, more, result);
    result += ended ? "\n" : "";
  });
  return result;
}

std::vector<text_field> fitting(const std::vector<text_field>& fields, size_t room) {
  std::vector<size_t> order(fields.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t i) { return fields[i].text.empty(); });
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return fields[a].rank < fields[b].rank; });
  size_t kept = 0;
  for (; kept < order.size(); ++kept) {
    const auto& field = fields[order[kept]];
    const size_t needed = columns_of(field.text) + (kept > 0 ? field.before.size() : 0);
    if (needed > room)
      break;
    room -= needed;
  }
  order.resize(kept);
  std::sort(order.begin(), order.end());
  std::vector<text_field> shown;
  for (const size_t i : order)
    shown.push_back(fields[i]);
  return shown;
}

std::string line_of(const std::vector<text_field>& fields) {
  std::string line;
  for (const auto& f : fields) {
    line += line.empty() ? "" : f.before;
    line += f.text;
  }
  return line;
}

}  // namespace troupe::cli
