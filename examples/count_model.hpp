// What the example char_model has to beat: a model that counts which characters followed the last few.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <unordered_map>

/// The method of Witten & Bell 1991 (their C), each order mixed with the one below it (Chen & Goodman 1998, 2.4): with
/// N the times that the last k characters h came before, T the different characters that followed them, and n how often
/// c was it,
///
///   p_k(c | h) = (n + T · p_{k-1}(c | h without its first)) / (N + T),   p_{-1}(c) = 1 / kinds,
///
/// and p_k = p_{k-1} where h was never seen.
class count_model {
 public:
  /// Of the characters [0, kinds) after the last `order`; (kinds + 1)^(order + 1) must fit into 64 bits.
  count_model(int order, int32_t kinds) : order_(order), kinds_(static_cast<uint64_t>(kinds)) {}

  void learn(std::span<const int32_t> characters) {
    for (size_t i = 0; i < characters.size(); ++i)
      for (size_t k = 0; k <= std::min(i, static_cast<size_t>(order_)); ++k) {
        const uint64_t h = key(characters.subspan(i - k, k));
        followers& f = seen_[h];
        ++f.times;
        f.different += ++together_[extended(h, characters[i])] == 1;
      }
  }

  /// That `c` follows `before`, of which the last `order` characters count.
  double probability(std::span<const int32_t> before, int32_t c) const {
    double p = 1 / static_cast<double>(kinds_);
    for (size_t k = 0; k <= std::min(before.size(), static_cast<size_t>(order_)); ++k) {
      const uint64_t h = key(before.last(k));
      const auto f = seen_.find(h);
      if (f == seen_.end())
        break;  // Nor was anything longer.
      const auto both = together_.find(extended(h, c));
      const double n = both == together_.end() ? 0 : both->second, different = f->second.different;
      p = (n + different * p) / (f->second.times + different);
    }
    return p;
  }

  /// The mean of -log2 p over the characters from `first` on, each after all before it.
  double bits_per_character(std::span<const int32_t> characters, size_t first) const {
    double bits = 0;
    for (size_t i = first; i < characters.size(); ++i)
      bits -= std::log2(probability(characters.first(i), characters[i]));
    return bits / static_cast<double>(characters.size() - first);
  }

 private:
  struct followers {
    double times = 0;
    double different = 0;
  };

  /// Strings of different lengths have different keys: no digit is 0.
  uint64_t extended(uint64_t h, int32_t c) const { return h * (kinds_ + 1) + static_cast<uint64_t>(c) + 1; }
  uint64_t key(std::span<const int32_t> characters) const {
    uint64_t h = 0;
    for (const int32_t c : characters)
      h = extended(h, c);
    return h;
  }

  int order_;
  uint64_t kinds_;
  std::unordered_map<uint64_t, followers> seen_;   ///< By what came before.
  std::unordered_map<uint64_t, double> together_;  ///< By what came before and what followed.
};
