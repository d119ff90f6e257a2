#include "messages/instances.hpp"

TROUPE_EACH_OF_DATA(TROUPE_DEFINE_INSTANCES)
