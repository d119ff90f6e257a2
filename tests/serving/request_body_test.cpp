#include "serving/request_body.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace troupe {

TEST_CASE("a body is what was put into it, in pieces of any size, and its memory is counted until it is released") {
  request_memory all{1 << 20};
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{4096}, size_t{100'000}}) {
    request_body body{&all};
    std::string whole;
    while (whole.size() < 200'000) {
      const std::string next(piece, static_cast<char>('a' + whole.size() % 23));
      REQUIRE(body.append(next.data(), next.size()));
      whole += next;
    }
    CHECK(body.text() == whole);
    CHECK(all.used() >= std::ssize(whole));
    CHECK(all.used() <= std::ssize(whole) + std::ssize(whole) / 4 + (64 << 10));
    body.trim();
    CHECK(body.text() == whole);
    CHECK(all.used() < std::ssize(whole) + (64 << 10));
    body.release();
    CHECK(body.text().empty());
    CHECK(all.used() == 0);
    CHECK(body.append("x", 1));
  }
  CHECK(all.used() == 0);
}

TEST_CASE("a body beyond the memory of all requests takes no more, and stays as it is") {
  request_memory all{100'000};
  request_body first{&all}, second{&all};
  const std::string some(50'000, 'a');
  REQUIRE(first.append(some.data(), some.size()));
  CHECK_FALSE(second.append(some.data(), some.size()));
  CHECK(second.append(some.data(), 1000));
  CHECK_FALSE(second.append(some.data(), some.size()));
  CHECK(second.text() == std::string(1000, 'a'));
  first.release();
  CHECK(second.append(some.data(), some.size()));
  CHECK_FALSE(second.append(some.data(), size_t{1} << 50));
}

TEST_CASE("shares of many threads never hold more than there is, and nothing at their end") {
  request_memory all{1000};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&all, i] {
      for (int64_t round = 0; round < 2000; ++round) {
        memory_share share{&all};
        (void)share.set(100 + (round * 37 + i) % 400);
        const memory_share other = std::move(share);
        if (all.used() > 1000)
          std::abort();
      }
    });
  for (auto& t : threads)
    t.join();
  CHECK(all.used() == 0);
}

}  // namespace troupe
