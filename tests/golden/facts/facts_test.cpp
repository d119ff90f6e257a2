// Three hundred simulated jobs, of which a third loses nodes: all that no order of turns changes is as it was. The
// golden file keeps a checksum for each subject of each job; the facts themselves are written by
//   TROUPE_WRITE_FACTS=DIR build/release/tests/golden/test_golden_facts -tc='*same facts*'
// at both commits, and compared by diff. A change that is meant to change facts makes the file anew:
//   TROUPE_RENEW_GOLDEN=facts.txt build/release/tests/golden/test_golden_facts
#include "golden/facts/fact_job.hpp"
#include "golden/kept_lines.hpp"
#include "storage/encodings/crc32c.hpp"

#include <cstdlib>

namespace troupe::test::golden_facts {

namespace {

constexpr uint64_t jobs = 200, mortal_jobs = 100;

using facts = std::map<std::string, std::string>;

void write(const std::string& name, const facts& of) {
  const char* to = std::getenv("TROUPE_WRITE_FACTS");
  if (!to)
    return;
  std::ofstream out{std::string{to} + "/" + name + ".txt"};
  for (const auto& [subject, text] : of)
    out << subject << "\n" << text;
  REQUIRE(out.flush());
}

void summarise(const std::string& name, const facts& of, std::string& to) {
  for (const auto& [subject, text] : of)
    to += name + " " + subject + " " + std::to_string(crc32c(text)) + "\n";
}

std::string all_facts() {
  std::string text;
  const auto note = [&text](const std::string& name, const facts& of) {
    write(name, of);
    summarise(name, of, text);
  };
  for (uint64_t seed = 1; seed <= jobs; ++seed)
    note("job-" + std::to_string(seed), facts_of(draw_fact_job(seed), seed));
  for (uint64_t seed = 1; seed <= mortal_jobs; ++seed)
    note("mortal-" + std::to_string(seed), facts_of(draw_mortal_job(seed), seed));
  return text;
}

void check_orders(const std::string& what, fact_job (*draw)(uint64_t seed), uint64_t seeds) {
  const char* each = std::getenv("TROUPE_FACT_SEEDS");
  for (uint64_t seed = 1; seed <= (each ? std::strtoull(each, nullptr, 10) : seeds); ++seed) {
    const auto first = facts_of(draw(seed), 1000 + seed), second = facts_of(draw(seed), 2000 + seed);
    for (const auto& [subject, text] : first) {
      const auto other = second.find(subject);
      CHECK_MESSAGE((other != second.end() && text == other->second),
                    what << " " << seed << ": " << subject << " differ\n"
                         << text << "---\n"
                         << (other == second.end() ? "" : other->second));
    }
    CHECK(first.size() == second.size());
  }
}

}  // namespace

TEST_CASE("three hundred simulated jobs come to the same facts as they did") { check_kept(all_facts(), "facts.txt"); }

TEST_CASE("facts of a job are the same in two orders of turns") { check_orders("job", draw_fact_job, 20); }

TEST_CASE("facts of a job that loses nodes are the same in two orders of turns") {
  check_orders("mortal job", draw_mortal_job, 20);
}

}  // namespace troupe::test::golden_facts
