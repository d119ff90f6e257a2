// TROUPE_API marks the symbols that libtroupe exports; all others are hidden.
// Not needed to begin with.
#pragma once

#if defined(__GNUC__)
#  define TROUPE_API __attribute__((visibility("default")))
#else
#  define TROUPE_API
#endif
