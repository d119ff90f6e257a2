#include "estimator/session_start.hpp"

#include "input/streams/fed_rows.hpp"
#include "input/streams/refused.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/checkpoints/checkpoint_reader.hpp"
#include "words/guarded.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

using values = start_values::values;

// -- the variables before the first step ---------------------------------------------------------

struct parameter_access::impl {
  layouts groups;
  uint64_t seed = 0;
  std::shared_ptr<file_system> files;
  std::map<std::string, tensor> written = {};
  std::map<group_id, std::shared_ptr<parameter_store>> initial = {};  ///< Made when a value is read.

  struct place {
    const group_layout* group = nullptr;
    int32_t index = -1;
    const parameter_entry& entry() const { return group->layout->entries()[static_cast<size_t>(index)]; }
  };
  expected<place> find(const std::string& name) const {
    for (const auto& group : groups)
      if (const auto index = group.layout->find(name); index >= 0)
        return place{&group, index};
    return fail(errc::not_found, "no variable is called " + quoted(name));
  }
  expected<tensor> initial_value(const place& at) {
    auto& store = initial[at.group->group];
    if (!store) {
      auto made = parameter_store::create(*at.group->layout, 1);
      if (!made)
        return fail(made.error());
      (*made)->initialise(seed);
      store = std::move(*made);
    }
    return store->view(0, at.index);
  }
  /// Slots that begin as copies of variables that were written.
  void copy_to_slots() {
    for (const auto& group : groups) {
      const auto entries = group.layout->entries();
      for (const auto& slot : entries)
        if (slot.starts_as_variable && !written.contains(slot.name))
          if (const auto from = written.find(entries[static_cast<size_t>(slot.variable)].name); from != written.end())
            written[slot.name] = from->second;
    }
  }
};

std::vector<std::string> parameter_access::names() const {
  std::vector<std::string> all;
  for (const auto& group : impl_.groups)
    for (const auto& e : group.layout->entries())
      all.push_back(e.name);
  std::sort(all.begin(), all.end());
  return all;
}

expected<tensor> parameter_access::read(const std::string& name) const {
  const auto at = impl_.find(name);
  if (!at)
    return fail(at.error());
  const auto found = impl_.written.find(name);
  return found == impl_.written.end() ? impl_.initial_value(*at) : found->second;
}

expected<void> parameter_access::write(const std::string& name, tensor value) {
  const auto at = impl_.find(name);
  if (!at)
    return fail(at.error());
  const auto& e = at->entry();
  if (value.type() != e.type || value.dims() != e.dims)
    return fail(errc::invalid_argument, quoted(name) + " is " + type_text(e.type, e.dims) + ", and what is written is "
                                            + type_text(value.type(), value.dims()));
  impl_.written[name] = std::move(value);
  return {};
}

namespace {

expected<std::unique_ptr<checkpoint_reader>> open_checkpoint(const std::shared_ptr<file_system>& files,
                                                             const std::string& prefix) {
  const auto which = checkpoint_ref::of_path(prefix);
  if (auto valid = validate(which); !valid)
    return fail(valid.error());
  const auto choice = choice_of(which);
  return checkpoint_store::open(files, parent_of(prefix), {.read_only = true}).and_then([&](const auto& store) {
    return store->read({choice.step, std::max<int64_t>(choice.iteration, 0)});
  });
}

expected<values> whole_state(checkpoint_reader& from, layouts groups) {
  std::vector<stored_group> stored;
  for (const auto& group : groups)
    stored.push_back(stored_of(*group.layout, group.group, group.name));
  if (auto same = check_tensors(stored, from.info(), true); !same)
    return fail(same.error());
  auto all = from.all();
  if (!all)
    return fail(all.error());
  return values{std::move(all->content.tensors), all->content.id.step, all->prefix};
}

/// As the chief does, passes over checkpoints that are damaged.
expected<values> newest_state(const checkpoint_store& store, layouts groups) {
  for (std::map<checkpoint_id, error> damaged;;) {
    const auto from = store.read_newest(damaged);
    if (!from)
      return fail(from.error());
    auto state = whole_state(**from, groups);
    if (state || state.error().category != errc::data_loss)
      return state;
    damaged.emplace((*from)->info().id, std::move(state.error()));
  }
}

}  // namespace

expected<void> parameter_access::load(const std::string& checkpoint, const std::vector<std::string>& names) {
  const auto from = open_checkpoint(impl_.files, checkpoint);
  if (!from)
    return fail(from.error());
  for (const auto& name : names) {
    auto value = (*from)->one(name);
    if (!value)
      return fail(value.error());
    if (!*value)
      return fail(errc::not_found, checkpoint + " has no " + quoted(name));
    if (auto written = write(name, std::move(**value)); !written)
      return written;
  }
  return {};
}

namespace {

/// Calls the functions of the user, and returns the values with what they wrote.
expected<values> initialised(const session_options& options, const std::shared_ptr<file_system>& files, layouts groups,
                             uint64_t seed, values given) {
  parameter_access::impl all{groups, seed, files};
  for (auto& t : given.tensors)
    all.written[t.name] = std::move(t.value);
  parameter_access access{all};
  if (options.init_fn) {
    auto done = guarded("init_fn", [&] { return options.init_fn(access); });
    if (!done)
      return fail(done.error());
    given.from += given.from.empty() ? "init_fn" : " and init_fn";
  }
  if (options.ready) {
    const auto missing = guarded("ready", [&] { return options.ready(access); });
    if (!missing)
      return fail(missing.error());
    if (!missing->empty())
      return fail(errc::state, "the session is not ready: init_fn "
                                   + std::string{options.init_fn ? "has left" : "is not there to initialise"} + " "
                                   + joined(*missing, ", ", [](const std::string& n) { return quoted(n); }));
  }
  all.copy_to_slots();
  given.tensors.clear();
  for (auto& [name, value] : all.written)
    given.tensors.push_back({name, std::move(value)});
  return given;
}

expected<void> check(const training_job& job, const session_options& options) {
  const auto& dir = job.basis.config.model_dir;
  if (options.checkpoint && dir)
    return fail(errc::invalid_argument, "checkpoint (" + *options.checkpoint + ") and model_dir (" + *dir
                                            + ") cannot both be given: the newest checkpoint of a directory is "
                                              "restored; to begin a directory with other values, use a warm start");
  if (options.checkpoint && !options.is_chief)
    return fail(errc::invalid_argument, "checkpoint is for a chief's session, and is_chief is false");
  if (!options.is_chief && !dir)
    return fail(errc::invalid_argument,
                "a session beside the chief's needs its model_dir, whose checkpoints it begins with");
  for (const auto& [name, value] : {std::pair{"max_wait_secs", options.max_wait_secs},
                                    {"recovery_wait_secs", options.recovery_wait_secs},
                                    {"stop_grace_period_secs", options.stop_grace_period_secs}})
    if (!(value >= 0.001 && value <= 3e7))
      return fail(errc::invalid_argument,
                  std::string{name} + " must be in [0.001, 3e7], not " + shortest_text(static_cast<float>(value)));
  for (size_t i = 0; i < options.chief_hooks.size(); ++i)
    if (!options.chief_hooks[i])
      return fail(errc::invalid_argument, "chief_hooks[" + std::to_string(i) + "] is null; leave it out");
  if (!job.evaluations.empty() || job.search || job.planner)
    return fail(errc::invalid_argument, "a session trains one model, without evaluations and without a search");
  return {};
}

}  // namespace

bool can_be_cured(const error& e) { return e.category == errc::aborted || e.category == errc::unavailable; }

error preemption_by(error cause) {
  cause.message = "work beside the runs has failed: " + cause.message;
  return cause;
}

expected<void> make_session(training_job& job, const session_options& options, const session_services& services) {
  if (auto right = check(job, options); !right)
    return right;
  session_plan plan{.copies = !options.is_chief, .port = std::make_shared<run_port>()};
  if (!options.feeds.empty())
    job.input = with_fed_rows(job.input, options.feeds, plan.port);
  const auto files = job.basis.files;
  if (services.recovers && services.beside)
    plan.preempted = [beside = *services.beside]() -> std::optional<error> {
      auto cause = beside.requested_error();
      return cause && can_be_cured(*cause) ? std::optional{preemption_by(std::move(*cause))} : std::nullopt;
    };
  plan.notes_end = services.notes_end && job.basis.config.model_dir && options.is_chief;
  if (options.is_chief) {
    job.hooks.insert(job.hooks.begin(), options.chief_hooks.begin(), options.chief_hooks.end());
    if (options.checkpoint)
      plan.start = [files, prefix = *options.checkpoint](layouts groups, uint64_t, values) {
        return open_checkpoint(files, prefix).and_then([&](auto from) { return whole_state(*from, groups); });
      };
    else if (options.init_fn || options.ready)
      plan.start = [files, options](layouts groups, uint64_t seed, values given) {
        return initialised(options, files, groups, seed, std::move(given));
      };
  } else {
    auto& config = job.basis.config;
    plan.start = [files, directory = *config.model_dir](layouts groups, uint64_t, values) {
      return checkpoint_store::open(files, directory, {.read_only = true}).and_then([&](const auto& store) {
        return newest_state(*store, groups);
      });
    };
    config.model_dir.reset();
    config.save_steps.reset();
    config.save_secs.reset();
    config.summary_steps = 0;
    config.summary_secs.reset();
    job.basis.start = nullptr;
    job.saving_listeners.clear();  // Saving is the chief's.
    job.keep_best.reset();
  }
  job.session = std::make_shared<const session_plan>(std::move(plan));
  return {};
}

expected<void> wait_for_checkpoint(const std::shared_ptr<file_system>& files, const std::string& directory,
                                   const session_options& options, follower_time& time) {
  const auto in_ms = [](double secs) { return std::chrono::milliseconds(static_cast<int64_t>(secs * 1000)); };
  const auto end = time.now() + in_ms(options.max_wait_secs);
  for (;;) {
    const auto store = checkpoint_store::open(files, directory, {.read_only = true});
    if (!store && store.error().category != errc::not_found)
      return fail(store.error());
    if (store && (*store)->newest())
      return {};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - time.now());
    if (left.count() <= 0)
      return fail(errc::deadline_exceeded, "no checkpoint came to " + directory + " in "
                                               + shortest_text(static_cast<float>(options.max_wait_secs))
                                               + " s (max_wait_secs): is a chief training there?");
    time.wait(nullptr, std::min(left, in_ms(options.recovery_wait_secs)));
  }
}

dataset rows_to_feed(const element_spec& spec, int64_t rows) {
  const auto make = [spec](int64_t) -> expected<example_tensors> {
    example_tensors one;
    for (const auto& c : spec.features)
      one.features[c.name] = tensor::zeros(c.type, c.dims);
    for (const auto& c : spec.labels)
      one.labels[c.name] = tensor::zeros(c.type, c.dims);
    return one;
  };
  auto source = dataset::from_generator(spec, std::max<int64_t>(rows, 1), make, "rows_to_feed");
  return source ? source->batch(rows).repeat()
                : dataset{input::refuse(input::absent(), "rows_to_feed", std::move(source.error()))};
}

}  // namespace troupe
