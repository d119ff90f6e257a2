#include "messages/instances.hpp"

TROUPE_EACH_FACT(TROUPE_DEFINE_INSTANCES)
