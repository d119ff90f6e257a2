// Reads the requests of hostile_requests.txt. The first lines of that file explain its format.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace troupe::test {

struct hostile_request {
  std::string line;  ///< The line of hostile_requests.txt that describes the request.
  std::string kind;
  int status = 0;  ///< The status of the only answer.
  std::string bytes;
};

namespace hostile {

inline void replace(std::string& text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

/// Replaces the escapes \r, \n, \t, \\ and \xHH.
inline std::string unescaped(const std::string& text) {
  std::string made;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      made += text[i];
      continue;
    }
    const char c = text.at(++i);
    if (c == 'x') {
      made += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      made += c == 'r' ? '\r' : c == 'n' ? '\n' : c == 't' ? '\t' : '\\';
    }
  }
  return made;
}

/// Replaces {a*9000} by 9000 times a.
inline void repeat(std::string& text) {
  for (size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
    const size_t times = text.find('*', at), end = text.find('}', at);
    if (times == std::string::npos || end == std::string::npos || times > end)
      continue;
    char* after = nullptr;
    const auto n = std::strtoul(text.c_str() + times + 1, &after, 10);
    if (n == 0 || after != text.c_str() + end)
      continue;
    const std::string one = text.substr(at + 1, times - at - 1);
    std::string all;
    for (size_t i = 0; i < n; ++i)
      all += one;
    text.replace(at, end - at + 1, all);
  }
}

inline std::string request_of(const std::string& kind, const std::string& text, const std::string& predict,
                              const std::string& second) {
  const std::string end = "\r\n", host = "Host: t\r\n",
                    length = "Content-Length: " + std::to_string(second.size()) + end;
  const std::string post = "POST " + predict + " HTTP/1.1\r\n";
  if (kind == "line")
    return text + end + host + length + end + second;
  if (kind == "path")
    return "GET " + text + " HTTP/1.1\r\n" + host + length + end + second;
  if (kind == "header")
    return post + host + length + text + end + end + second;
  if (kind == "framing")
    return post + host + text + end + end + second;
  if (kind == "host")
    return post + text + end + length + end + second;
  return kind == "chunks" ? post + host + "Transfer-Encoding: chunked\r\n\r\n" + text + second : "";
}

}  // namespace hostile

/// All requests of the file. Each hides the request `second` in its body or after it.
inline std::vector<hostile_request> hostile_requests(const std::string& predict, const std::string& second) {
  std::vector<hostile_request> all;
  std::ifstream file{TROUPE_HOSTILE_REQUESTS};
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#')
      continue;
    const size_t status = line.find(' ') + 1, begin = std::min(line.size(), status + 4);
    std::string text = hostile::unescaped(line.substr(begin));
    hostile::replace(text, "{n}", std::to_string(second.size()));
    hostile::replace(text, "{predict}", predict);
    hostile::repeat(text);
    const std::string kind = line.substr(0, status - 1);
    all.push_back({line, kind, std::atoi(line.c_str() + status), hostile::request_of(kind, text, predict, second)});
  }
  return all;
}

}  // namespace troupe::test
