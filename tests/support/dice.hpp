// Random numbers from which tests draw what they play.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace troupe::test {

/// The generator SplitMix64 (Steele, Lea, Flood 2014).
class dice {
 public:
  explicit dice(uint64_t seed) : state_(seed * 0xd1342543de82ef95u + 1) {}

  uint64_t draw() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  /// A number in [first, last].
  int64_t between(int64_t first, int64_t last) {
    return first + static_cast<int64_t>(draw() % static_cast<uint64_t>(last - first + 1));
  }
  bool in_percent(int64_t percent) { return between(1, 100) <= percent; }
  /// A number in [0, last], whose logarithm is drawn evenly: small numbers are as likely as large ones.
  int64_t up_to(int64_t last) {
    return between(0, last >> between(0, 63 - __builtin_clzll(static_cast<uint64_t>(last) | 1)));
  }
  template <class T>
  T of(std::initializer_list<T> choices) {
    return *(choices.begin() + between(0, static_cast<int64_t>(choices.size()) - 1));
  }

 private:
  uint64_t state_;
};

}  // namespace troupe::test
