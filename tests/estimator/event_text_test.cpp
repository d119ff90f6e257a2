#include <troupe/hook.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

using kind = job_event::kind;

TEST_CASE("every kind of event has its line") {
  CHECK(to_text(job_event{.what = kind::started, .step = 3, .max_steps = 9, .text = "a fresh start"})
        == "started at step 3, to step 9: a fresh start");
  CHECK(to_text(job_event{.what = kind::started, .text = "a fresh start"}) == "started at step 0: a fresh start");
  CHECK(to_text(job_event{.what = kind::saved, .step = 5, .text = "runs/model.ckpt-5"}) == "saved runs/model.ckpt-5");
  CHECK(to_text(job_event{
            .what = kind::evaluated, .step = 5, .metrics = {{"accuracy", 0.5}, {"global_step", 5}, {"loss", 1.25}}})
        == "evaluated step 5: accuracy 0.5, loss 1.25");
  CHECK(to_text(job_event{.what = kind::warning, .step = 5, .text = "look out"}) == "look out");
  CHECK(to_text(job_event{
            .what = kind::finished, .step = 5, .seconds = 1.25, .metrics = {{"loss", 1}}, .text = "the data ended"})
        == "finished at step 5 after 1.2 s: loss 1; the data ended");
  CHECK(to_text(job_event{.what = kind::stopped, .step = 5}) == "stopped at step 5 after 0.0 s");
  CHECK(to_text(job_event{.what = kind::failed,
                          .failure = error{errc::nan_loss, "the loss is not finite", {}, "replica/0", 7}})
        == "nan_loss: the loss is not finite (replica/0, step 7)");
}

TEST_CASE("progress says how far, how fast and how long still, as far as that is known") {
  job_event e{.what = kind::progress, .step = 5, .loss = 2};
  CHECK(to_text(e) == "step 5  loss 2");
  e.max_steps = 10;
  CHECK(to_text(e) == "step 5/10  50%  loss 2");
  e.steps_per_second = 0.5;
  CHECK(to_text(e) == "step 5/10  50%  0.50 steps/s  loss 2  ETA 0:10");
  e.max_steps = 5 + 31;
  CHECK(to_text(e) == "step 5/36  13%  0.50 steps/s  loss 2  ETA 1:02");
  e.max_steps = 5 + 3723 / 2;
  e.steps_per_second = 12.4;
  CHECK(to_text(e) == "step 5/1866  0%  12 steps/s  loss 2  ETA 2:31");
  e.steps_per_second = 0.25;
  CHECK(to_text(e).ends_with("ETA 2:04:04"));
  e = {
      .what = kind::progress, .step = 5, .loss = 2, .metrics = {{"accuracy", 0.5}, {"auc", 0.75}, {"average_loss", 2}}};
  CHECK(to_text(e) == "step 5  loss 2  accuracy 0.5  auc 0.75");
  e.metrics["precision"] = 0.25;
  e.metrics["recall"] = 1;
  CHECK_MESSAGE(to_text(e) == "step 5  loss 2  accuracy 0.5  auc 0.75  precision 0.25", "no more than three");
}

}  // namespace troupe::test
