#include "serving/batcher.hpp"

#include "words/guarded.hpp"

#include <cstring>
#include <new>
#include <numeric>

namespace troupe {

namespace {

/// Concatenates all parts along the first axis.
expected<tensor> stacked(const std::vector<const tensor*>& parts) {
  int64_t rows = 0;
  for (const auto* t : parts)
    rows += t->dims()[0];
  const shape dims = parts[0]->dims().inner().prepend(rows);
  auto buffer = allocate_buffer(std::max<int64_t>(1, dims.elements() * size_of(parts[0]->type())));
  if (!buffer)
    return fail(errc::resource_exhausted, "no memory for a batch of " + std::to_string(rows) + " rows");
  std::byte* to = buffer.get();
  for (const auto* t : parts) {
    if (t->byte_size() > 0)
      std::memcpy(to, t->data(), static_cast<size_t>(t->byte_size()));
    to += t->byte_size();
  }
  return tensor{parts[0]->type(), dims, std::move(buffer)};
}

}  // namespace

expected<std::vector<tensor>> batcher::call(std::span<const tensor> inputs, int64_t rows) {
  lock held{guard_};
  const uint64_t id = next_id_++;
  request mine{.inputs = inputs, .rows = rows};
  const auto came = now(), deadline = came + options_.wait_max;
  requests_.emplace(id, &mine);  // Before it is queued: whoever takes the id from the queue looks it up here.
  try {
    if (!queue_.push(id, rows, came)) {
      requests_.erase(id);
      return fail(errc::resource_exhausted,
                  std::to_string(queue_.requests()) + " requests wait already, as many as may");
    }
    return wait(held, id, mine, deadline);
  } catch (...) {  // Out of memory, before the request was taken.
    queue_.remove(id);
    requests_.erase(id);
    wake_oldest();
    throw;
  }
}

batcher::results batcher::wait(lock& held, uint64_t id, request& mine, batch_queue::time deadline) {
  while (!mine.done) {
    const auto time = now();
    if (!mine.taken && leaders_ < options_.callers_max && queue_.is_due(time)) {
      lead(held);
      continue;
    }
    if (mine.taken) {
      mine.woken.wait(held);
      continue;
    }
    if (time >= deadline) {
      queue_.remove(id);
      requests_.erase(id);
      wake_oldest();
      return fail(errc::deadline_exceeded,
                  "the request had no turn within "
                      + std::to_string(std::chrono::duration<double>(options_.wait_max).count()) + " s");
    }
    const auto due = leaders_ < options_.callers_max ? queue_.due_at().value_or(deadline) : deadline;
    mine.woken.wait_for(held, std::min(due, deadline) - time);
  }
  return std::move(mine.result);
}

void batcher::lead(lock& held) {
  std::vector<request*> batch;
  // Reserved first: nothing may throw between taking the requests and computing them, because the others of the batch
  // wait for their results.
  batch.reserve(static_cast<size_t>(queue_.requests()));
  for (const uint64_t id : queue_.take()) {
    batch.push_back(requests_.at(id));
    batch.back()->taken = true;
    requests_.erase(id);
  }
  ++leaders_;
  wake_oldest();  // What is left may be due for another leader already.
  std::unique_ptr<servable_caller> caller;
  if (!idle_.empty()) {
    caller = std::move(idle_.back());
    idle_.pop_back();
  }
  held.unlock();
  compute_in_order(caller, batch);
  held.lock();
  for (auto* r : batch) {
    r->done = true;
    r->woken.notify_one();
  }
  if (caller)
    idle_.push_back(std::move(caller));
  --leaders_;
  wake_oldest();
}

void batcher::refuse(const std::vector<request*>& batch, const error& why) {
  for (auto* r : batch)
    r->result = fail(why);
}

/// Where an exception leaves a request without a result, the initial value remains: "no memory".
void batcher::compute_in_order(std::unique_ptr<servable_caller>& caller,
                               const std::vector<request*>& batch) const noexcept {
  try {
    try {
      compute(caller, batch);
    } catch (const std::bad_alloc&) {
    } catch (...) {
      refuse(batch, thrown_by("the batch"));
    }
  } catch (const std::bad_alloc&) {}
}

/// Computes `batch` with `caller`, which is made first if it is null.
void batcher::compute(std::unique_ptr<servable_caller>& caller, const std::vector<request*>& batch) const {
  if (options_.on_batch)
    options_.on_batch(std::accumulate(batch.begin(), batch.end(), int64_t{0},
                                      [](int64_t rows, const request* r) { return rows + r->rows; }));
  if (!caller) {
    auto made = model_->caller(signature_);
    if (!made)
      return refuse(batch, made.error());
    caller = std::move(*made);
  }
  if (batch.size() == 1) {
    batch[0]->result = caller->call(batch[0]->inputs);
    return;
  }
  std::vector<tensor> inputs;
  for (size_t i = 0; i < batch[0]->inputs.size(); ++i) {
    std::vector<const tensor*> parts;
    for (const auto* r : batch)
      parts.push_back(&r->inputs[i]);
    auto joined = stacked(parts);
    if (!joined)
      return compute_apart(*caller, batch);
    inputs.push_back(std::move(*joined));
  }
  const auto all = caller->call(inputs);
  if (!all)
    return compute_apart(*caller, batch);
  int64_t first = 0;
  for (auto* r : batch) {
    std::vector<tensor> outputs;
    for (const auto& t : *all)
      outputs.push_back(t.slice(first, r->rows));
    first += r->rows;
    r->result = std::move(outputs);
  }
}

/// Computes the requests one by one after the batch has failed: perhaps only one of them is refused.
void batcher::compute_apart(servable_caller& caller, const std::vector<request*>& batch) {
  for (auto* r : batch)
    r->result = caller.call(r->inputs);
}

void batcher::wake_oldest() {
  if (const auto id = queue_.oldest())
    requests_.at(*id)->woken.notify_one();
}

int64_t batcher::waiting() const {
  const lock held{guard_};
  return queue_.requests();
}

}  // namespace troupe
