// What tests of whole jobs include most, precompiled once for each target. Sources still include what they use.
#ifndef TROUPE_SMALL_JOB_PCH_HPP  // Not #pragma once: it is the main file of its own compilation.
#define TROUPE_SMALL_JOB_PCH_HPP

#include "messages/caf_pch.hpp"
#include "tests/support/small_job.hpp"

#include <doctest/doctest.h>

#endif
