// An actor system that starts and ends: the reference of bench_startup.
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

int main() {
  caf::actor_system_config config;
  caf::actor_system system{config};
}
