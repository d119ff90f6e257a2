// Reads one request whose head is complete, and sends its response.
#pragma once

#include "modules/http/connection.hpp"
#include "serving/http_listener.hpp"

namespace troupe {

struct exchange_rules {
  bool last = false;            ///< End the connection after this response.
  steady::duration patience{};  ///< How long to wait for the client before each piece of the response.
};

/// Reads the body, calls the handler and sends the response. Returns true if another request may follow on the
/// connection. False if the request was refused, if its body was not read, if either side wants the connection to end
/// (the response says so), or if the response could not be sent.
bool answer_request(connection& client, const http_options& options, const http_handler& handler, exchange_rules rules);

/// Sends the reason for a refusal, as much of it as the client takes without a wait. The connection must end after it.
void answer_refusal(connection& client, const http_options& options, const refusal& why);

}  // namespace troupe
