#include <troupe/error.hpp>

#include <doctest/doctest.h>

namespace troupe {

TEST_CASE("an error prints its category, message, place and every note") {
  const error e{errc::nan_loss, "the loss is not finite", {"learning rate 10"}, "replica/0", 17};
  CHECK(to_text(e) == "nan_loss: the loss is not finite (replica/0, step 17)\n  note: learning rate 10");
}

}  // namespace troupe
