// A fuzz target is one file NAME_fuzz.cpp that defines the two functions below. `./dev fuzz NAME` runs it.
#pragma once

#include "storage/files/file_system.hpp"

#include <cstdio>
#include <cstdlib>

namespace troupe::fuzz {

/// Valid files, written by our own code, with which the fuzzer starts.
std::vector<std::string> seeds();

/// Hands `input` to the parser, which may return any error. Findings are a crash, a leak, a read out of bounds,
/// undefined behaviour, memory beyond the limit and a `require` that does not hold.
void run(std::string_view input);

/// Nests `inside` in as many pairs of `open` and `close` as fit into an input. A parser that recursed here would
/// exhaust its stack.
inline std::string nested(std::string_view open, std::string_view inside, std::string_view close) {
  constexpr size_t bytes_max = 12'000;
  std::string text;
  const size_t depth = bytes_max / (open.size() + close.size());
  for (size_t i = 0; i < depth; ++i)
    text += open;
  text += inside;
  for (size_t i = 0; i < depth; ++i)
    text += close;
  return text;
}

inline void require(bool holds, const char* what) {
  if (holds)
    return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// The value of a call that can only fail on a damaged file system.
template <class T>
T need(expected<T> x) {
  if (!x)
    std::fprintf(stderr, "%s\n", to_text(x.error()).c_str());
  require(x.has_value(), "an expected value is there");
  return std::move(*x);
}

/// A file system in memory with `bytes` in the file "f".
inline std::shared_ptr<file_system> holding(std::string_view bytes) {
  auto files = memory_file_system();
  auto file = need(files->create("f"));
  require(file->append(std::as_bytes(std::span{bytes})) && file->close(), "memory takes the file");
  return files;
}

}  // namespace troupe::fuzz
