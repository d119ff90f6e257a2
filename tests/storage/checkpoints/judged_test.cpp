#include "storage/checkpoints/judged.hpp"

#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/encodings/sealed_text.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace troupe {

namespace {

const judged sample_judgement{.best = judged::best_so_far{{{30, 1}, 7}, 0.1},
                              .ends = judged::end_by_rule{{{40}, 0xffffffffu}, "a \"rule\"", "loss was 0.25\n"}};

}  // namespace

TEST_CASE("what an evaluator has judged comes back as it was kept, with each part alone as well") {
  const auto fs = memory_file_system();
  REQUIRE(fs->create_directories("/m"));
  for (auto j :
       {sample_judgement, judged{}, judged{.best = sample_judgement.best}, judged{.ends = sample_judgement.ends},
        judged{.best = judged::best_so_far{{{5}, 1}, std::numeric_limits<double>::infinity()}},
        judged{.best = judged::best_so_far{{{5}, 1}, -std::numeric_limits<double>::infinity()}},
        judged{.best = judged::best_so_far{{{5}, 1}, 1.0 / 3}}}) {
    REQUIRE(write_judged(*fs, "/m", j));
    const auto read = load_judged(*fs, "/m");
    REQUIRE_MESSAGE(read, (read ? "" : to_text(read.error())));
    CHECK(*read == j);
  }
}

TEST_CASE("a judgement that is torn or changed in any byte is not taken for a whole one") {
  const auto whole = judged_text(sample_judgement);
  for (size_t i = 0; i < whole.size(); ++i) {
    CHECK_FALSE(parse_judged(whole.substr(0, i), "j"));
    auto changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    const auto read = parse_judged(changed, "j");
    REQUIRE_FALSE(read);
    CHECK(read.error().category == errc::data_loss);
    CHECK(has(read.error().message, "j is damaged"));
  }
}

TEST_CASE("a judgement of a later version or of another format is refused by name") {
  auto later = judged_text({});
  later.replace(later.find("\"format_version\": 1"), 19, "\"format_version\": 2");
  later.replace(later.find("crc32c\": \"") + 10, 8, unsealed);
  const auto read = parse_judged(seal(later), "/m/judged.json");
  REQUIRE_FALSE(read);
  CHECK(read.error().category == errc::unimplemented);
  CHECK(has(read.error().message, "/m/judged.json: format version 2, and this program reads 1"));
  CHECK(load_judged(*memory_file_system(), "/m").error().category == errc::not_found);
}

TEST_CASE("a judgement with a right checksum and a number that no checkpoint or metric has is damaged") {
  for (const auto& [before, after] : {std::pair{"\"step\": 30", "\"step\": -1"},
                                      {"\"manifest_crc32c\": 7", "\"manifest_crc32c\": 4294967296"},
                                      {"\"value\": 0.1", "\"value\": \"nan\""},
                                      {"\"rule\": \"a", "\"rules\": \"a"}}) {
    auto text = judged_text(sample_judgement);
    const auto at = text.find(before);
    REQUIRE(at != std::string::npos);
    text.replace(at, std::string{before}.size(), after);
    text.replace(text.rfind("\": \"") + 4, 8, unsealed);
    const auto read = parse_judged(seal(text), "j");
    REQUIRE_FALSE(read);
    CHECK_MESSAGE(has(read.error().message, "j is damaged"), read.error().message);
  }
}

TEST_CASE("a checkpoint is meant by the bytes of its manifest, not by its step alone") {
  const auto fs = memory_file_system();
  REQUIRE(fs->create_directories("/m"));
  CHECK(judged_checkpoint_of(*fs, "/m", {5}).error().category == errc::not_found);
  REQUIRE(write_file_atomically(*fs, "/m", manifest_name({5}), "one"));
  const auto meant = judged_checkpoint_of(*fs, "/m", {5});
  REQUIRE(meant);
  CHECK(has_checkpoint(*fs, "/m", *meant) == true);
  CHECK(has_checkpoint(*fs, "/m", {{6}, meant->manifest_crc32c}) == false);
  REQUIRE(write_file_atomically(*fs, "/m", manifest_name({5}), "two"));
  CHECK(has_checkpoint(*fs, "/m", *meant) == false);
}

}  // namespace troupe
