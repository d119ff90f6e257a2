#include "messages/instances.hpp"

TROUPE_EACH_CONTROL(TROUPE_DEFINE_INSTANCES)
