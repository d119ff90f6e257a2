#include "storage/checkpoints/retention_policy.hpp"

#include <algorithm>

namespace troupe {

retention_decision decide_retention(const retention_policy& policy, std::vector<checkpoint_id> listed,
                                    retention_state retention, double now) {
  retention.saved_at[listed.back()] = now;
  retention.last_preserved = std::min(retention.last_preserved.value_or(now), now);
  const size_t listed_max = policy.keep_checkpoint_max == 0 ? listed.size()
                                                            : static_cast<size_t>(policy.keep_checkpoint_max);
  const auto surplus = static_cast<std::ptrdiff_t>(listed.size() - std::min(listed.size(), listed_max));
  retention_decision decision;
  for (const auto id : std::vector<checkpoint_id>{listed.begin(), listed.begin() + surplus}) {
    if (id == policy.best) {
      decision.listed.push_back(id);
      continue;
    }
    const auto at = retention.saved_at.extract(id);
    if (retention.preserved.contains(id))
      continue;
    if (!at.empty() && at.mapped() - 3600 * policy.keep_checkpoint_every_n_hours >= *retention.last_preserved) {
      retention.preserved.insert(id);
      retention.last_preserved = at.mapped();
    } else {
      decision.deleted.push_back(id);
    }
  }
  decision.listed.insert(decision.listed.end(), listed.begin() + surplus, listed.end());
  decision.retention = std::move(retention);
  return decision;
}

}  // namespace troupe
