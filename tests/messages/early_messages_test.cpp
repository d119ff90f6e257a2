#include "messages/early_messages.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace troupe::test {

namespace {

struct credit {
  int32_t attempt = 0;
  int number = 0;
};
struct word {
  int32_t attempt = 0;
  std::string text;
};

struct kept_early {
  early_messages<credit, word> early;
  std::vector<std::string> begin(int32_t attempt) {
    std::vector<std::string> heard;
    early.hand_over(attempt, each_of{[&](const credit& c) { heard.push_back(std::to_string(c.number)); },
                                     [&](const word& w) { heard.push_back(w.text); }});
    return heard;
  }
};

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE_FIXTURE(kept_early,
                  "messages of a later attempt are handed over when it begins, in the order in which they came, once") {
  CHECK(early.keep(1, credit{2, 7}));
  CHECK(early.keep(1, word{2, "a"}));
  CHECK(early.keep(1, credit{2, 8}));
  CHECK((begin(2) == texts{"7", "a", "8"}));
  CHECK(begin(2).empty());
  CHECK(early.size() == 0);
}

TEST_CASE_FIXTURE(kept_early, "messages of the attempt that has begun, or of an older one, are not kept") {
  CHECK_FALSE(early.keep(2, credit{2, 1}));
  CHECK_FALSE(early.keep(2, credit{1, 1}));
  CHECK(early.size() == 0);
}

TEST_CASE_FIXTURE(kept_early, "an attempt that never began here leaves nothing once a newer one is heard of") {
  CHECK(early.keep(1, word{2, "old"}));
  CHECK(early.keep(1, word{3, "new"}));
  CHECK(early.size() == 1);
  CHECK_MESSAGE(early.keep(1, word{2, "older still"}), "it is of a later attempt, and of one that is over");
  CHECK(early.size() == 1);
  CHECK(begin(2).empty());
  CHECK((begin(3) == texts{"new"}));
}

TEST_CASE_FIXTURE(kept_early, "a receiver that begins a newer attempt than it heard of forgets what it kept") {
  CHECK(early.keep(1, word{2, "old"}));
  CHECK(begin(3).empty());
  CHECK(early.size() == 0);
}

}  // namespace troupe::test
