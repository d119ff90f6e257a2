#include "words/prometheus_text.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE("a metric is two lines of comment and one line for each value") {
  prometheus_text all;
  all.begin("steps_total", prometheus_text::kind::counter, "Steps made.");
  all.add(int64_t{1} << 60);
  all.begin("seconds", prometheus_text::kind::histogram, "Time of a step.");
  all.add(3, {{"le", "0.5"}}, "_bucket");
  all.add(0.25, {}, "_sum");
  CHECK(all.text()
        == "# HELP steps_total Steps made.\n# TYPE steps_total counter\nsteps_total 1152921504606846976\n"
           "# HELP seconds Time of a step.\n# TYPE seconds histogram\n"
           "seconds_bucket{le=\"0.5\"} 3\nseconds_sum 0.25\n");
}

TEST_CASE("quotes, backslashes and line ends within a label are escaped") {
  prometheus_text all;
  all.begin("busy", prometheus_text::kind::gauge, "Share of the time at work.");
  all.add(1, {{"actor", "a\"b\\c\nd"}, {"host", ""}});
  CHECK(all.text().ends_with("\nbusy{actor=\"a\\\"b\\\\c\\nd\",host=\"\"} 1\n"));
}

}  // namespace troupe::test
