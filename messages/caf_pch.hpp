// The headers that sources with CAF include most, precompiled once for each target. Sources still include what they
// use.
#ifndef TROUPE_CAF_PCH_HPP  // Not #pragma once: it is the main file of its own compilation.
#define TROUPE_CAF_PCH_HPP

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/result.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#endif
