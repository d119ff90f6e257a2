// The headers that tests of whole jobs include most, precompiled once for each target. Sources still include all that
// they use.
#ifndef TROUPE_SMALL_JOB_PCH_HPP  // No #pragma once: it warns in the main file of a compilation, which this file is.
#define TROUPE_SMALL_JOB_PCH_HPP

#include "messages/caf_pch.hpp"
#include "tests/support/small_job.hpp"

#include <doctest/doctest.h>

#endif
