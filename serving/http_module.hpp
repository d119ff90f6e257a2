// Loads the module that speaks HTTP, which nothing else needs.
#pragma once

#include "serving/http_listener.hpp"

#include <troupe/error.hpp>

#include <memory>

namespace troupe {

/// Looks for libtroupe_http.so in the directory that TROUPE_MODULES names, else beside libtroupe, in troupe/ and modules/ there.
/// unimplemented: there is none, naming where it was looked for; unavailable: the address cannot be taken.
expected<std::unique_ptr<http_listener>> listen_for_http(const http_options& options, const http_handler& handler);

}  // namespace troupe
