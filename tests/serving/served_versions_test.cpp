#include "serving/served_versions.hpp"

#include "tests/serving/fake_servable.hpp"

#include <doctest/doctest.h>

namespace troupe {

namespace {

struct with_exports {
  std::shared_ptr<test::fake_exports> exports = std::make_shared<test::fake_exports>();
  served_versions versions{std::make_unique<test::fake_source>(exports), {}};
};

using warnings = std::vector<std::string>;

}  // namespace

TEST_CASE_FIXTURE(
    with_exports,
    "the newest version answers, and a newer one takes over; the older one goes with the last who holds it") {
  exports->factors = {{3, 2.f}, {11, 3.f}, {7, 4.f}};
  CHECK(versions.current() == nullptr);
  CHECK(versions.refresh()->opened == 11);
  auto held = versions.current();
  CHECK_FALSE(versions.refresh()->opened);
  exports->factors[12] = 5;
  CHECK(versions.refresh()->opened == 12);
  CHECK(versions.current()->number() == 12);
  CHECK(held->number() == 11);
  CHECK(exports->facts->living == 2);
  held.reset();
  CHECK(exports->facts->living == 1);
}

TEST_CASE_FIXTURE(with_exports,
                  "a version that cannot be opened is told once, and the next newer one takes its place") {
  exports->factors = {{1, 2.f}};
  REQUIRE(versions.refresh());
  exports->factors[2] = exports->factors[3] = 2;
  exports->broken = {3};
  auto change = versions.refresh();
  CHECK(change->opened == 2);
  CHECK(change->warnings == warnings{"version 3 cannot be served: export 3 is damaged"});
  change = versions.refresh();
  CHECK_FALSE(change->opened);
  CHECK(change->warnings.empty());
}

TEST_CASE_FIXTURE(with_exports,
                  "a version that is whole only later, as one that is being copied, answers from then on") {
  exports->factors = {{1, 2.f}};
  REQUIRE(versions.refresh());
  exports->factors[2] = 3;
  exports->broken = {2};
  int64_t tried = 0;
  for (int look = 0; look < 200; ++look) {
    const auto before = exports->opened;
    const auto change = versions.refresh();
    CHECK(change->warnings.size() == (look == 0 ? 1 : 0));
    tried += exports->opened - before;
  }
  CHECK(tried == 9);  // Looks 0, 1, 3, 7, 15, 31, 63, 127 and 191 try to open it.
  exports->broken.clear();
  for (int look = 0; look < 64; ++look)
    versions.refresh();
  CHECK(versions.current()->number() == 2);
}

TEST_CASE_FIXTURE(with_exports, "what a version remarks on itself is told once, when it begins to answer") {
  exports->factors = {{1, 2.f}};
  exports->facts->remark = "it is old";
  CHECK(versions.refresh()->warnings == warnings{"it is old"});
  CHECK(versions.refresh()->warnings.empty());
  exports->facts->remark.clear();
  exports->factors[2] = 3;
  const auto change = versions.refresh();
  CHECK(change->opened == 2);
  CHECK(change->warnings.empty());
}

TEST_CASE_FIXTURE(with_exports, "a version that vanishes goes on answering, which is told once") {
  exports->factors = {{5, 2.f}, {4, 2.f}};
  REQUIRE(versions.refresh());
  exports->factors.erase(5);
  const auto gone = versions.refresh();
  CHECK_FALSE(gone->opened);
  CHECK(gone->warnings == warnings{"version 5 has vanished from the disk: it answers until there is a newer one"});
  CHECK(versions.refresh()->warnings.empty());
  CHECK(versions.current()->number() == 5);
}

TEST_CASE_FIXTURE(
    with_exports,
    "versions that cannot be listed for a while are told once, and have not vanished; a refused one is still known") {
  exports->factors = {{5, 2.f}, {6, 2.f}};
  exports->broken = {6};
  REQUIRE(versions.refresh()->opened == 5);
  exports->unlisted = error{errc::unavailable, "the disk does not answer"};
  CHECK(versions.refresh()->warnings == warnings{"the versions cannot be listed: the disk does not answer"});
  CHECK(versions.refresh()->warnings.empty());
  exports->unlisted.reset();
  CHECK(versions.refresh()->warnings.empty());
  CHECK(versions.current()->number() == 5);
  exports->unlisted = error{errc::unavailable, "the disk does not answer"};
  CHECK(versions.refresh()->warnings.size() == 1);
}

TEST_CASE_FIXTURE(with_exports,
                  "without any version that can be opened there is the error of the newest, or that there is none") {
  CHECK(versions.refresh().error().category == errc::not_found);
  exports->factors = {{1, 2.f}, {2, 2.f}};
  exports->broken = {1, 2};
  CHECK(versions.refresh().error() == error{errc::data_loss, "export 2 is damaged"});
}

}  // namespace troupe
