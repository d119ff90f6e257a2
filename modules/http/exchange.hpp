// One request and its answer, on a connection whose head has come.
#pragma once

#include "modules/http/connection.hpp"
#include "serving/http_listener.hpp"

namespace troupe {

struct exchange_rules {
  bool last = false;             ///< No further request is wanted on this connection.
  steady::duration patience{};   ///< With a client that takes the answer in pieces, for each of them.
};

/// Reads the body, has the request handled and sends the answer. False: the connection is at its end, and the answer, if there is one, said so.
/// Only after an answer of the handler's, whose request had no byte but those that were read, may another request follow.
bool answer_request(connection& client, const http_options& options, const http_handler& handler, exchange_rules rules);

/// Sends, as far as the client takes it at once, why there is no request to answer. The connection is at its end.
void answer_refusal(connection& client, const http_options& options, const refusal& why);

}  // namespace troupe
