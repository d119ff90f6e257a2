#include "plan/check_groups.hpp"

#include "plan/refusals.hpp"

#include <algorithm>
#include <set>

namespace troupe {

namespace {

class group_check {
 public:
  explicit group_check(const checked_plan& p) : plan_(p), data_(p.data()) {}

  expected<void> all() const {
    std::set<std::string_view> names;
    for (const auto& g : data_.groups) {
      if (data_.groups.size() > 1 && g.name.empty())
        return refuse("group " + std::to_string(static_cast<int32_t>(g.id))
                      + " is one of several and has no name, under which its values could be shown");
      if (!names.insert(g.name).second)
        return refuse("two groups have the name " + quoted(g.name));
      if (g.on_not_finite == not_finite::stop && data_.groups.size() > 1)
        return refuse("group " + quoted(g.name)
                      + " is to end the job before a step that is not finite (on_not_finite = stop), and group "
                      + quoted(data_.groups[&g == &data_.groups[0] ? 1 : 0].name)
                      + " goes on beside it: only a job of one group can end there");
      if (g.leaves != leaves_on::never && data_.groups.size() == 1)
        return refuse("group " + quoted(g.name)
                      + " is to leave if it fails, and there is no other: no job would be left");
      if (g.retires_at.value_or(0) < 0)
        return refuse("group " + quoted(g.name) + " retires at step " + std::to_string(*g.retires_at)
                      + ": steps count from 0");
      if (auto begins = beginning(g); !begins)
        return begins;
      for (const auto id : g.falls_with) {
        const auto* other = find_group(id);
        if (!other)
          return refuse("group " + quoted(g.name) + " falls with group " + std::to_string(static_cast<int32_t>(id))
                        + ", which the plan does not list");
        if (!reads(g, *other))
          return refuse("group " + quoted(g.name) + " falls with group " + quoted(other->name)
                        + " and does not read from it: it could have gone beyond the step where that leaves");
      }
    }
    return shown();
  }

 private:
  const plan_group* find_group(group_id id) const {
    const auto g = std::find_if(data_.groups.begin(), data_.groups.end(),
                                [id](const plan_group& x) { return x.id == id; });
    return g == data_.groups.end() ? nullptr : &*g;
  }

  /// A group counts its steps from its beginning, so none of those that the plan makes may be before it.
  expected<void> beginning(const plan_group& g) const {
    const auto begins = "group " + quoted(g.name) + " begins at step " + std::to_string(g.begins_at);
    if (g.begins_at < 0)
      return refuse(begins + ": steps count from 0");
    if (g.retires_at && *g.retires_at < g.begins_at)
      return refuse(begins + " and retires before that, at step " + std::to_string(*g.retires_at));
    if (const auto first = data_.iteration.begins_at.value_or(0); g.begins_at > first)
      return refuse(begins + ", and the plan trains it from state " + std::to_string(first) + " on");
    return {};
  }

  /// Whether every replica of `g` has an edge from `from`.
  bool reads(const plan_group& g, const plan_group& from) const {
    bool any = false;
    for (const auto& n : data_.nodes) {
      if (n.what != role::replica || n.group != g.id || data_.programs[*n.program].mode != mode::train)
        continue;
      const auto& edges = plan_.edges_to(n.id);
      any = true;
      if (std::none_of(edges.begin(), edges.end(), [&](const plan_edge* e) {
            const auto& source = plan_.at(e->from);
            return source.what == role::replica && source.group == from.id;
          }))
        return false;
    }
    return any;
  }

  expected<void> shown() const {
    std::set<group_id> listed;
    for (const auto id : data_.shown) {
      if (!find_group(id))
        return refuse("it shows group " + std::to_string(static_cast<int32_t>(id)) + ", which it does not list");
      if (!listed.insert(id).second)
        return refuse("it shows group " + quoted(find_group(id)->name) + " twice");
    }
    for (const auto& g : data_.groups)
      if (!listed.contains(g.id))
        return refuse("it does not say where group " + quoted(g.name)
                      + " is shown: its order of groups has to name each");
    return {};
  }

  const checked_plan& plan_;
  const job_plan& data_;
};

}  // namespace

expected<void> check_groups(const checked_plan& p) { return group_check{p}.all(); }

}  // namespace troupe
