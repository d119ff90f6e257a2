// Checks a plan before any actor starts.
#include "plan/check_groups.hpp"
#include "plan/refusals.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace troupe {

namespace {

/// The names of the roles: "chief, evaluator".
std::string text_of(role_set all) {
  std::string text;
  for (const auto& row : role_rows())
    if (contains(all, row.what))
      text.append(text.empty() ? "" : ", ").append(row.name);
  return text.append(all & launcher_alone ? (text.empty() ? "the launcher" : ", the launcher") : "");
}

bool has_port(const std::vector<std::string>& ports, const std::string& port) {
  return std::find(ports.begin(), ports.end(), port) != ports.end();
}

}  // namespace

/// Checks one subject in each function. `plan_` gets its index once nodes and the ends of edges are known to exist.
class plan_check {
 public:
  static expected<checked_plan> of(job_plan data) {
    plan_check check{checked_plan{std::move(data)}};
    auto ok = check.numbers();
    if (ok)
      check.plan_.index();
    for (const auto part :
         {&plan_check::nodes, &plan_check::ends, &plan_check::ports, &plan_check::divisions, &plan_check::company,
          &plan_check::cycles, &plan_check::parts, &plan_check::groups, &plan_check::places, &plan_check::iteration})
      ok = ok ? (check.*part)() : ok;
    if (!ok)
      return fail(ok.error());
    return std::move(check.plan_);
  }

 private:
  explicit plan_check(checked_plan p) : plan_(std::move(p)), data_(plan_.plan_) {}

  std::string text_of_edge(const plan_edge& e) const {
    const auto end = [this](node_id id, const std::string& port) {
      const auto n = std::find_if(data_.nodes.begin(), data_.nodes.end(),
                                  [id](const plan_node& x) { return x.id == id; });
      return (n == data_.nodes.end() ? text_of(id) : n->name) + (port.empty() ? "" : "." + port);
    };
    return "edge " + std::to_string(static_cast<int32_t>(e.id)) + " (" + end(e.from, e.out) + " => " + end(e.to, e.in)
           + ")";
  }

  expected<void> numbers() const {
    std::unordered_map<node_id, const plan_node*> known;
    std::set<std::string_view> names;
    for (const auto& n : data_.nodes) {
      if (const auto [other, added] = known.emplace(n.id, &n); !added)
        return refuse(text_of(n.id) + " is both " + named(*other->second) + " and " + named(n));
      if (!names.insert(n.name).second)
        return refuse("two nodes have the name " + named(n));
    }
    std::set<edge_id> edges;
    for (const auto& e : data_.edges) {
      if (!edges.insert(e.id).second)
        return refuse("there are two edges with the number " + std::to_string(static_cast<int32_t>(e.id)));
      if (!known.contains(e.from) || !known.contains(e.to))
        return refuse(text_of_edge(e) + " is of a node that is not there");
    }
    return {};
  }

  /// An infeed of data that one group trains on feeds that group, and nobody else.
  expected<void> own_data(const plan_node& n) const {
    if (!n.own)
      return {};
    if (n.what != role::infeed || n.stops_at_infeeds)
      return refuse(named(n) + " has data of one group: only an infeed to which no stop is sent may have them");
    for (const auto* e : plan_.edges_from(n.id))
      if (plan_.at(e->to).group != n.own->group || e->out == data_port)
        return refuse(text_of_edge(*e) + ": the data are of one group, and not the input of others");
    return {};
  }

  expected<void> nodes() const {
    for (const auto& n : data_.nodes) {
      const auto* driver = plan_.find(n.driver);
      if (const auto may = row_of(n.what).drivers;
          n.driver == no_node ? !(may & launcher_alone) : !driver || !contains(may, driver->what))
        return refuse(named(n) + " is driven by "
                      + (n.driver == no_node ? "the launcher"
                         : driver            ? named(*driver)
                                             : text_of(n.driver))
                      + ": " + an(n.what) + " is driven by one of: " + text_of(may));
      if (n.what == role::replica && (!n.program || *n.program >= data_.programs.size()))
        return refuse(named(n) + " has no program: a replica names one of the " + std::to_string(data_.programs.size())
                      + " in the plan");
      if (n.what == role::replica && data_.programs[*n.program].group != n.group)
        return refuse(named(n) + " is of another group than its program");
      const auto is_listed = [&] {
        return std::any_of(data_.groups.begin(), data_.groups.end(),
                           [&n](const plan_group& g) { return g.id == n.group; });
      };
      if (n.what == role::replica && data_.programs[*n.program].mode == mode::train && !is_listed())
        return refuse(named(n) + " is of group " + std::to_string(static_cast<int32_t>(n.group))
                      + ", which the plan does not list");
      if (n.what == role::infeed && (!n.dataset || *n.dataset >= data_.datasets.size()))
        return refuse(named(n) + " has no dataset: an infeed names one of the " + std::to_string(data_.datasets.size())
                      + " in the plan");
      if (auto own = own_data(n); !own)
        return own;
      if (n.what == role::infeed && driver->what == role::chief && !n.own
          && n.stops_at_infeeds != driver->stops_at_infeeds)
        return refuse(
            named(n)
            + (n.stops_at_infeeds ? " ends the steps of a stop, and " : " does not end the steps of a stop, and ")
            + named(*driver) + " tells " + (driver->stops_at_infeeds ? "infeeds" : "replicas") + " of it");
    }
    return {};
  }

  /// Checks the kinds, roles, drivers and credits of edges.
  expected<void> ends() const {
    for (const auto& e : data_.edges) {
      const auto &from = plan_.at(e.from), &to = plan_.at(e.to);
      const auto& row = row_of(e.kind);
      const auto of_kind = [&] { return text_of_edge(e) + " of " + std::string{row.name}; };
      if (!contains(row.from, from.what) || !contains(row.to, to.what))
        return refuse(of_kind() + " goes from " + an(from.what) + " to " + an(to.what) + ": it goes from one of "
                      + text_of(row.from) + " to one of " + text_of(row.to));
      if ((from.what == role::chief ? from.id : from.driver) != to.driver)
        return refuse(text_of_edge(e) + " joins nodes of two drivers");
      if (row.within_group && from.group != to.group)
        return refuse(of_kind() + " joins nodes of two groups");
      if (row.own_credit && (e.credit.messages.value_or(0) < 1 || e.credit.bytes.value_or(0) < 1))
        return refuse(text_of_edge(e) + " has a credit of " + std::to_string(e.credit.messages.value_or(0))
                      + " blocks of " + std::to_string(e.credit.bytes.value_or(0))
                      + " bytes: nothing could ever be sent; both must be at least 1");
      if (!row.own_credit && e.credit != row.credit)
        return refuse(of_kind() + " has a credit of its own, to which nobody holds its sender: that of its kind is "
                      + (row.credit.messages ? std::to_string(*row.credit.messages) + " messages" : "none"));
    }
    return {};
  }

  expected<void> ports() const {
    std::set<std::pair<node_id, std::string>> filled, read;
    for (const auto& e : data_.edges) {
      if (e.kind != edge_kind::data)
        continue;
      const auto &from = plan_.at(e.from), &to = plan_.at(e.to);
      if (!has_port(from.out_ports, e.out))
        return refuse(text_of_edge(e) + ": " + named(from) + " has no out-port '" + e.out + "'");
      if (!has_port(to.in_ports, e.in))
        return refuse(text_of_edge(e) + ": " + named(to) + " has no in-port '" + e.in + "'");
      if (from.what == role::replica && e.how != divide::broadcast)
        return refuse(text_of_edge(e) + " divides by " + std::string{to_string(e.how)}
                      + ": what a replica computed goes whole to its reader (broadcast)");
      if (!filled.emplace(e.to, e.in).second)
        return refuse("in-port '" + e.in + "' of " + named(to) + " is filled by two edges, the second of which is "
                      + text_of_edge(e));
      read.emplace(e.from, e.out);
    }
    for (const auto& n : data_.nodes) {
      for (const auto& port : n.in_ports)
        if (!filled.contains({n.id, port}))
          return refuse("in-port '" + port + "' of " + named(n) + " has no edge that fills it");
      for (const auto& port : n.out_ports)
        if (!read.contains({n.id, port}))
          return refuse("out-port '" + port + "' of " + named(n) + " has no reader");
    }
    return {};
  }

  /// Indices count from 0 without repetition: a replica's index chooses its shards, an infeed's its share of the data.
  static expected<void> check_numbers(const checked_plan::nodes& nodes) {
    std::vector<const plan_node*> taken(nodes.size());
    for (const auto* n : nodes) {
      if (n->index < 0 || static_cast<size_t>(n->index) >= nodes.size())
        return refuse(named(*n) + " has the index " + std::to_string(n->index) + " among "
                      + std::to_string(nodes.size()) + ": they count from 0");
      if (const auto* other = std::exchange(taken[static_cast<size_t>(n->index)], n))
        return refuse(named(*other) + " and " + named(*n) + " both have the index " + std::to_string(n->index));
    }
    return {};
  }

  /// All replicas of a program have the same ports. An infeed that sends each reader a separate batch does so for all
  /// of its edges, with equally many readers in each group.
  expected<void> divisions() const {
    for (size_t program = 0; program < data_.programs.size(); ++program) {
      const auto& replicas = plan_.replicas_of(program);
      if (replicas.empty())
        return refuse("no replica runs program " + std::to_string(program) + " ('" + data_.programs[program].model
                      + "')");
      if (auto ok = check_numbers(replicas); !ok)
        return ok;
      for (const auto* r : replicas)
        if (r->in_ports != replicas.front()->in_ports || r->out_ports != replicas.front()->out_ports)
          return refuse(named(*r) + " has other ports than " + named(*replicas.front())
                        + ", which runs the same program");
    }
    std::vector<checked_plan::nodes> infeeds(data_.datasets.size());
    for (const auto& n : data_.nodes)
      if (n.what == role::infeed)
        infeeds[*n.dataset].push_back(&n);
    for (const auto& of_one : infeeds)
      if (auto ok = check_numbers(of_one); !ok)
        return ok;
    for (const auto& n : data_.nodes) {
      std::map<group_id, size_t> each;
      const auto& edges = plan_.edges_from(n.id);
      for (const auto* e : edges)
        if (e->how == divide::each)
          ++each[plan_.at(e->to).group];
      for (const auto* e : edges)
        if (!each.empty() && (e->how != divide::each || each[plan_.at(e->to).group] != each.begin()->second))
          return refuse(
              text_of_edge(*e) + ": " + named(n) + " gives each of " + std::to_string(each.begin()->second)
              + " readers a batch of its own; all of its edges must be divided so, among as many in each group");
    }
    return {};
  }

  /// Whether the gradient of a replica comes to all of its group.
  bool reduces(const plan_node& n) const {
    const auto& first = *plan_.replicas_of(*n.program).front();
    const auto reducers = plan_.edges_from(n.id, edge_kind::gradient).size();
    return reducers == plan_.edges_from(first.id, edge_kind::gradient).size()
           && (reducers == 1 || (reducers == 0 && n.place == first.place));
  }

  /// Every replica has an in-port and an outfeed. If its group trains several replicas, they have a reducer, or they
  /// are all at one place and meet in a collective. The records of an outfeed go to the summary writer.
  expected<void> company() const {
    for (const auto& n : data_.nodes) {
      if (n.what == role::replica && n.in_ports.empty())
        return refuse(named(n) + " has no in-port: it would never make a step");
      if (n.what == role::replica && plan_.edges_from(n.id, edge_kind::report).size() != 1)
        return refuse(named(n) + " has no outfeed to report to: it needs one edge of report");
      const size_t calls = plan_.edges_from(n.id, edge_kind::call).size();
      if (n.what == role::replica && calls != (data_.programs[*n.program].host_calls ? 1u : 0u))
        return refuse(named(n) + " has " + std::to_string(calls) + " edges of call, and its program has "
                      + (calls == 0 ? "host calls: it needs one, to its outfeed" : "at most one use for them"));
      if (n.what == role::replica && data_.programs[*n.program].mode == mode::train && !reduces(n))
        return refuse(named(n)
                      + " is one of several of its group: they need one edge of gradient each, to a reducer, or none "
                        "and the same place");
      if (n.what == role::summary_writer && plan_.edges_to(n.id, edge_kind::record).size() != 1)
        return refuse(named(n) + " has no outfeed that it hears of: it needs one edge of record");
    }
    return {};
  }

  /// A step needs a batch on every in-port, so that no node of a cycle could make its first step.
  expected<void> cycles() const {
    std::map<node_id, size_t> waits_for;
    for (const auto& e : data_.edges)
      if (e.kind == edge_kind::data)
        ++waits_for[e.to];
    std::vector<node_id> ready;
    for (const auto& n : data_.nodes)
      if (!waits_for.contains(n.id))
        ready.push_back(n.id);
    while (!ready.empty()) {
      const auto done = ready.back();
      ready.pop_back();
      for (const auto* e : plan_.edges_from(done))
        if (--waits_for[e->to] == 0) {
          waits_for.erase(e->to);
          ready.push_back(e->to);
        }
    }
    if (waits_for.empty())
      return {};
    const auto names = joined(waits_for, ", ", [this](const auto& waiting) { return named(plan_.at(waiting.first)); });
    return refuse("there is a cycle: " + names + " wait for one another, and none could make its first step");
  }

  /// If the job saves, every node whose role makes a snapshot part sends exactly one.
  expected<void> parts() const {
    const bool any = std::any_of(data_.edges.begin(), data_.edges.end(),
                                 [](const plan_edge& e) { return e.kind == edge_kind::part; });
    for (const auto& n : data_.nodes) {
      const bool trains = n.what == role::chief || (plan_.find(n.driver) && plan_.find(n.driver)->what == role::chief);
      const bool sends = row_of(n.what).makes_part || !plan_.edges_to(n.id, edge_kind::part).empty();
      if (!any || !trains || !sends || n.what == role::checkpoint_writer)
        continue;
      if (const auto edges = plan_.edges_from(n.id, edge_kind::part).size(); edges != 1)
        return refuse("a snapshot has "
                      + (edges == 0 ? std::string{"no part of "} : std::to_string(edges) + " parts of ") + named(n)
                      + ", which makes one");
    }
    return {};
  }

  expected<void> groups() const { return check_groups(plan_); }

  /// Blocks and arenas are lent, so nodes that exchange them share a place. Messages between the chief, its outfeed and
  /// its summary writer must arrive in the order of sending (docs/actors.md, "Three rules rely on more"). An evaluator
  /// or a predictor writes to the store of its replica.
  expected<void> places() const {
    for (const auto& n : data_.nodes) {
      const auto* driver = plan_.find(n.driver);
      const bool relies = n.what == role::outfeed || n.what == role::summary_writer;
      if (driver && driver->place != n.place && (relies || driver->what != role::chief))
        return refuse(
            named(n) + " is at place " + std::to_string(n.place) + " and " + named(*driver) + " at "
            + std::to_string(driver->place)
            + ": they share memory or rely on the order of one another's messages, and have to be at one place");
    }
    for (const auto& e : data_.edges)
      if (e.kind == edge_kind::data && plan_.at(e.from).place != plan_.at(e.to).place)
        return refuse(text_of_edge(e) + " goes from place " + std::to_string(plan_.at(e.from).place) + " to "
                      + std::to_string(plan_.at(e.to).place) + ": what flows there is lent memory");
    return {};
  }

  /// The next iteration begins from the commit of the last state.
  expected<void> iteration() const {
    const auto& i = data_.iteration;
    const auto name = "iteration " + std::to_string(i.number);
    if (i.number < 0 || (i.number > 0) != i.begins_at.has_value() || i.begins_at.value_or(0) < 0)
      return refuse(
          name
          + (i.begins_at ? " begins at a state, and the first one is 0" : " does not say at which state it begins"));
    if (i.ends_at && *i.ends_at <= i.begins_at.value_or(0))
      return refuse(name + " ends at state " + std::to_string(*i.ends_at) + " and begins at state "
                    + std::to_string(i.begins_at.value_or(0)));
    if ((i.ends_at || i.number > 0) && !plan_.saves())
      return refuse(name + " is one of several, and nothing is saved: the next one begins from a checkpoint");
    return {};
  }

  checked_plan plan_;
  const job_plan& data_;
};

expected<checked_plan> checked_plan::of(job_plan p) { return plan_check::of(std::move(p)); }

}  // namespace troupe
