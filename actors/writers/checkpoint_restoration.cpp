// The checkpoint writer before an attempt: loads the newest checkpoint and sends it to the owners of the parameter
// stores.
#include "actors/writers/checkpoint_writer.hpp"
#include "actors/writers/resumed_properties.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

namespace {

/// Credit of all owners together: one part is being written, one waits in the mailbox, and one is on its way. More
/// would not be faster, and on a link each of them is a copy.
constexpr size_t parts_on_their_way_max = 3;

}  // namespace

void checkpoint_writer_state::on_restore(const restore& x) {
  begin_attempt(x.attempt, x.of);
  state_owners owners;
  for (const auto& owner : x.owners)
    owners[owner.group] = {owner.owner};
  send_newest(std::move(owners));
}

static newest books_of(int32_t attempt, const checkpoint_info& of) {
  return {attempt, true, of.id, of.prefix, of.blobs, of.properties};
}

void checkpoint_writer_state::on_name_newest(const name_newest& x) {
  if (std::exchange(attempt, x.attempt) != x.attempt)
    damaged.clear();
  if (auto opened = open(); !opened)
    return fail_with(opened.error());
  if (!store)
    return self->send(driver, troupe::newest{x.attempt});
  auto found = store->read_newest(damaged);
  if (!found && found.error().category != errc::not_found)
    return fail_with(found.error());
  self->send(driver, found ? books_of(x.attempt, (*found)->info()) : troupe::newest{x.attempt});
}

void checkpoint_writer_state::send_newest(state_owners owners) {
  auto loaded = load(owners);
  if (!loaded)
    return fail_with(loaded.error());
  if (const auto* other = std::get_if<troupe::newest>(&loaded->news))
    return self->send(driver, *other);
  sending = std::move(*loaded);
  std::get<restored>(sending->news).attempt = attempt;
  sending->owners = std::move(owners);
  send_state();
}

/// Sends an older checkpoint in place of one that proved damaged: its parts overwrite those already sent.
void checkpoint_writer_state::send_older(error cause) {
  auto failed = *std::exchange(sending, std::nullopt);
  if (cause.category != errc::data_loss)
    return fail_with(std::move(cause));
  damaged.emplace(std::get<restored>(failed.news).id, std::move(cause));
  send_newest(std::move(failed.owners));
}

/// The groups that had not left when a checkpoint with these properties was made.
std::vector<stored_group> checkpoint_writer_state::groups_in(
    const std::map<std::string, std::string>& properties) const {
  auto there = stored.groups;
  std::erase_if(there, [left = read_books(properties).left](const stored_group& g) { return left.contains(g.name); });
  return there;
}

/// The state of a job without a checkpoint: initial values, or those of a warm start, which is read again in each
/// attempt.
expected<checkpoint_writer_state::transfer> checkpoint_writer_state::begin_anew(std::vector<stored_group> owned) {
  if (!options.start)
    return transfer{restored{}, {owned, options.seed}, {}};
  auto values = options.start(options.seed);
  if (!values)
    return fail(std::move(values.error()));
  if (values->from.empty())
    return transfer{restored{.id = {values->step}}, {owned, options.seed}, {}};
  warm_start = values->from;
  restored news{.id = {values->step}};
  // For the chief's first event.
  news.properties = write_books({.warm_start = std::to_string(values->tensors.size()) + " tensors of " + values->from});
  return transfer{std::move(news), {owned, options.seed, std::move(values->tensors), options.part_bytes_max}, {}};
}

/// A group without an owner has no living replica, and gets no state.
expected<checkpoint_writer_state::transfer> checkpoint_writer_state::load(const state_owners& owners) {
  const auto owned = [&owners](std::vector<stored_group> groups) {
    std::erase_if(groups, [&owners](const stored_group& g) { return !owners.contains(g.group); });
    return groups;
  };
  if (options.directory.empty())
    return begin_anew(owned(stored.groups));
  if (auto opened = open(); !opened)
    return fail(opened.error());
  auto found = store->read_newest(damaged);
  if (!found && found.error().category == errc::not_found)
    return begin_anew(owned(stored.groups));
  if (!found)
    return fail(found.error());
  const auto& content = (*found)->info();
  const auto& span = stored.iteration;
  if (stored.one_of_several && !span.goes_on_from(content.id) && !planted(planted_fault::old_iteration_accepted))
    return transfer{books_of(attempt, content), {}, {}};
  // Such a commit at this step would be verified instead of written anew, and would remain the newest with its old
  // values.
  if (content.id.iteration > span.number)
    return fail(errc::failed_precondition, content.prefix + " is of iteration " + std::to_string(content.id.iteration)
                                               + " of a search, and this job of iteration "
                                               + std::to_string(span.number)
                                               + ": go on with the search, or train into another directory");
  const bool grows = stored.one_of_several && content.id.iteration < span.number;
  // In that case, a group that has left belongs to the previous iteration.
  const auto there = grows ? stored.groups : groups_in(content.properties);
  auto same = grows ? check_growth(there, stored.growth, content) : check_tensors(there, content, true, stored.numbers);
  if (!same)
    return fail(same.error());
  auto warnings = (*found)->warnings;
  for (auto& difference : differences_in_arithmetic(content.properties, options.properties))
    warnings.push_back(std::move(difference));
  restored news{attempt, true, content.id, content.prefix, content.blobs, content.properties, std::move(warnings)};
  if (grows)
    return transfer{
        std::move(news), {owned(there), std::move(*found), stored.growth, options.seed, options.part_bytes_max}, {}};
  return transfer{std::move(news), {owned(there), std::move(*found), options.part_bytes_max}, {}};
}

void checkpoint_writer_state::on_state_taken(const state_taken& x) {
  if (sending && x.attempt == attempt && sending->on_their_way.erase(x.number) > 0)
    send_state();
}

/// Takes from the restored checkpoint what the job continues with.
void checkpoint_writer_state::take_over(const restored& from) {
  const auto books = read_books(from.properties);
  static_cast<void>(keep_best(books));  // Cannot fail yet: nothing is dropped that `keep_best` could list again.
  if (from.found && warm_start.empty())
    warm_start = books.warm_start;
}

/// An owner that dies or is halted takes no part. The chief learns of it and begins another attempt, and with it
/// another restoration.
void checkpoint_writer_state::send_state() {
  auto& s = *sending;
  while (s.on_their_way.size() < parts_on_their_way_max) {
    auto next = s.parts.next();
    if (!next)
      return send_older(std::move(next.error()));
    if (!*next)
      break;
    auto& [to, part] = **next;
    part.attempt = attempt;
    for (const auto& owner : s.owners[to]) {
      part.number = parts_sent++;
      s.on_their_way.emplace(part.number, owner);
      self->send(owner, part);
    }
  }
  if (!s.on_their_way.empty())
    return;
  auto done = *std::exchange(sending, std::nullopt);
  if (auto* const shown_state = std::get_if<state_shown>(&done.news))
    release_arenas(shown_state->step, done.from);
  else
    take_over(std::get<restored>(done.news));
  std::visit([this](auto& news) { self->send(driver, std::move(news)); }, done.news);
}

}  // namespace troupe
