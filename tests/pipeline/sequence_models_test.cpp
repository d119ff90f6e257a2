// Recurrent and attention models in whole jobs: the state at the end depends only on seed, steps and data.
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/ended_jobs.hpp"

#include <troupe/losses.hpp>
#include <troupe/nn.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

constexpr int64_t note_kinds = 7, length = 8;

/// A dataset of windows of a melody of seven different notes.
dataset melody() {
  std::vector<int32_t> notes(120);
  for (size_t i = 0; i < notes.size(); ++i)
    notes[i] = static_cast<int32_t>((i * i / 5 + i / 3) % note_kinds);
  return dataset::from_tensors({{"notes", tensor::of<int32_t>({120}, notes)}})
      ->window(length + 1, 1)
      .shuffle()
      .batch(4)
      .repeat();
}

symbol two_lstms(symbol x, bool training) {
  for (int layer = 0; layer < 2; ++layer)
    x = dropout(nn::lstm(x, {.units = 6}).outputs, 0.3, training);
  return x;
}

symbol two_blocks(symbol x, bool training) {
  for (int block = 0; block < 2; ++block) {
    const auto seen = nn::multi_head_attention(nn::layer_norm(x),
                                               {.heads = 2, .relative = true, .dropout = 0.2, .training = training});
    x = nn::residual(x, seen, {.dropout = 0.1, .training = training});
    x = nn::residual(x, nn::feed_forward(nn::layer_norm(x), {.hidden = 12, .dropout = 0.2, .training = training}),
                     {.dropout = 0.1, .training = training});
  }
  return x;
}

/// A model that predicts each note from the earlier notes of the window.
model next_note(symbol (*layers)(symbol x, bool training)) {
  return {"next_note", [layers](graph&, const features& in, const labels&, mode m) {
            const auto before = slice(in["notes"], 1, 0, length), after = slice(in["notes"], 1, 1, length);
            const auto logits = nn::dense(
                layers(nn::embedding(before, {.entries = note_kinds, .units = 6}), m == mode::train),
                {.units = note_kinds});
            return model_spec{
                .mode = m,
                .loss = losses::sparse_softmax_cross_entropy(after, logits),
                .optimizer = optimizer{.rule = adam{.rate = 0.01f}, .warmup_steps = 5, .clip = {.global_norm = 1}}};
          }};
}

small_job_options job_of(const model& m) { return {.max_steps = 16, .input = melody(), .source = m}; }

checkpoint_content state_of_run(const small_job_options& o, uint64_t schedule) {
  simulated_job job{prepare_small(o), schedule};
  return state_at_end(job, o.files);
}

const std::pair<const char*, model> models[] = {{"lstm", next_note(two_lstms)}, {"transformer", next_note(two_blocks)}};

}  // namespace

TEST_CASE("an LSTM and a transformer with dropout end in the same state however their actors are scheduled") {
  for (const auto& [name, m] : models) {
    CAPTURE(name);
    const auto first = state_of_run(job_of(m), 1);
    CHECK(first.id.step == 16);
    for (uint64_t schedule : {2, 3})
      CHECK(same_state(state_of_run(job_of(m), schedule), first));
    auto shorter = job_of(m);
    shorter.max_steps = 15;
    auto other = state_of_run(shorter, 1);
    other.id.step = 16;
    CHECK_FALSE(same_state(other, first));  // The last step changed the state.
  }
}

TEST_CASE(
    "an LSTM and a transformer with dropout that stop and go on, or lose their power, end in the state of a run that "
    "did not") {
  for (const auto& [name, m] : models) {
    CAPTURE(name);
    const auto whole = state_of_run(job_of(m), 1);
    auto broken = job_of(m);
    auto disk = memory_disk::make();
    broken.files = disk;
    {
      simulated_job job{prepare_small(broken), 1};
      job.crank_until([&] { return job.progress().step >= 3; });
      job.ask(request::stop);
      const auto stopped = state_at_end(job, broken.files).id.step;
      CHECK(stopped >= 3);
      CHECK(stopped < 16);
    }
    {
      simulated_job job{prepare_small(broken), 2};
      REQUIRE(job.crank_until([&] { return job.progress().committed_step >= 10; }));
      disk->crash({.torn_tails = true, .entries_may_survive = true, .seed = 1});
    }
    CHECK(newest_checkpoint(broken.files).content.id.step < 16);
    CHECK(same_state(state_of_run(broken, 3), whole));
  }
}

TEST_CASE("an LSTM and a transformer with dropout are bit-equal on one replica, two and four") {
  for (const auto& [name, m] : models) {
    CAPTURE(name);
    std::vector<checkpoint_content> ends;
    for (int64_t replicas : {1, 2, 4}) {
      auto o = job_of(m);
      o.replicas = replicas;
      o.shards = 4;
      ends.push_back(state_of_run(o, 3));
    }
    CHECK(same_state(ends[0], ends[1]));
    CHECK(same_state(ends[0], ends[2]));
  }
}

}  // namespace troupe::test
