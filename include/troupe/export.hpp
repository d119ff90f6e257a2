// The mark of what libtroupe exports; everything else is hidden.
#pragma once

#if defined(__GNUC__)
#  define TROUPE_API __attribute__((visibility("default")))
#else
#  define TROUPE_API
#endif
