#include "words/batch_share.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

namespace troupe::test {

TEST_CASE("the shares of all nodes are the batches, each once") {
  for (const int64_t every : {1, 2, 3, 7})
    for (int64_t end = 0; end < 30; ++end) {
      int64_t all = 0;
      for (int64_t first = 0; first < every; ++first) {
        const batch_share share{first, every};
        const auto own = share.below(end);
        all += own;
        CHECK((own == 0 || share.number_of(own - 1) < end));
        CHECK(share.number_of(own) >= end);
      }
      CHECK(all == end);
    }
}

}  // namespace troupe::test
