#include "modules/http/exchange.hpp"

#include "modules/http/chunked_body.hpp"
#include "modules/http/coding.hpp"

#include <algorithm>
#include <new>

namespace troupe {

namespace {

constexpr size_t piece_bytes = 65536, compressed_from = 1024;

const char* phrase_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Other";
  }
}

std::string head_of(const http_response& answer, bool closes, bool compressed, double idle_secs) {
  std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " " + phrase_of(answer.status) + "\r\nContent-Type: "
                     + answer.content_type + "\r\nContent-Length: " + std::to_string(answer.body.size()) + "\r\n";
  if (compressed)
    head += "Content-Encoding: gzip\r\n";
  return head
         + (closes ? "Connection: close\r\n\r\n"
                   : "Keep-Alive: timeout=" + std::to_string(static_cast<int64_t>(idle_secs)) + "\r\n\r\n");
}

tl::unexpected<refusal> refuse(int status, std::string reason = {}) {
  return tl::unexpected{refusal{status, std::move(reason)}};
}

/// Reads a body and passes its bytes to a sink, which may refuse them.
class body_reader {
 public:
  using sink = std::function<or_refusal<void>(std::string_view)>;

  body_reader(connection& client, const request_head& head, sink to)
    : client_(client), head_(head), to_(std::move(to)) {}

  or_refusal<void> read() {
    const uint64_t most = client_.limits().body_bytes;
    char piece[piece_bytes];
    for (uint64_t got = 0; !whole(got);) {
      const uint64_t wanted = head_.body == request_head::framing::length ? head_.length - got : sizeof piece;
      const ssize_t n = client_.read(piece, std::min<uint64_t>(wanted, sizeof piece));
      if (n <= 0)
        return n == 0 ? refuse(400, "the body ends before it is whole") : refuse(408);
      got += static_cast<uint64_t>(n);
      if (got > most)
        return refuse(413);
      if (auto right = take({piece, static_cast<size_t>(n)}); !right)
        return right;
    }
    return {};
  }

 private:
  bool whole(uint64_t got) const {
    return head_.body == request_head::framing::chunks ? chunks_.whole() : got == head_.length;
  }
  or_refusal<void> take(std::string_view bytes) {
    if (head_.body == request_head::framing::length)
      return to_(bytes);
    while (!bytes.empty() && !chunks_.whole()) {
      const auto part = chunks_.take(bytes);
      if (!part)
        return tl::unexpected{part.error()};
      if (!part->data.empty())
        if (auto right = to_(part->data); !right)
          return right;
      bytes.remove_prefix(part->taken);
    }
    if (!bytes.empty())
      client_.put_back(bytes);
    return {};
  }

  connection& client_;
  const request_head& head_;
  const sink to_;
  chunked_body chunks_;
};

or_refusal<void> read_body(connection& client, const request_head& head, const http_options& options,
                           request_body& body) {
  const auto most = static_cast<size_t>(options.body_bytes_max);
  const auto keep = [&](std::string_view bytes) -> or_refusal<void> {
    if (bytes.size() > most - body.size())
      return refuse(413);
    return body.append(bytes.data(), bytes.size()) ? or_refusal<void>{} : refuse(429);
  };
  const auto decoder = head.coding.empty() ? nullptr : decoder_of(head.coding);
  if (!decoder && !head.coding.empty())
    return refuse(415, "a body is sent as it is, or as gzip, deflate or br");
  if (head.body == request_head::framing::length && head.length > most)
    return refuse(413);
  if (head.waits && !client.write("HTTP/1.1 100 Continue\r\n\r\n", {}, client.limits().piece))
    return refuse(408);
  const auto decode = [&](std::string_view bytes) -> or_refusal<void> {
    or_refusal<void> kept;
    const bool right = decoder->decode(bytes, [&](std::string_view piece) { return (kept = keep(piece)).has_value(); });
    return !kept || right ? kept : refuse(400, "the body is not what its content-encoding says");
  };
  auto read = body_reader{client, head, decoder ? body_reader::sink{decode} : body_reader::sink{keep}}.read();
  if (read && decoder && !decoder->whole())
    return refuse(400, "the body ends before what is compressed in it does");
  return read;
}

/// Compresses the body if it is long enough and there is memory for both forms. Returns whether it did.
bool compress(http_response& answer) {
  const auto held = answer.memory.bytes();
  if (answer.body.size() < compressed_from || !answer.memory.set(held + static_cast<int64_t>(answer.body.size())))
    return false;
  auto made = gzipped(answer.body);
  const bool compressed = !made.empty();
  if (compressed)
    answer.body = std::move(made);
  answer.memory.set(held);
  return compressed;
}

/// Other methods need no body: it is not read, and the connection ends after the response.
bool takes_body(const std::string& method) {
  return method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE";
}

or_refusal<http_response> handled(connection& client, const request_head& head, const http_options& options,
                                  const http_handler& handler) {
  try {
    request_body body{options.memory};
    if (head.has_body() && takes_body(head.method))
      if (auto read = read_body(client, head, options, body); !read)
        return tl::unexpected{std::move(read.error())};
    return handler({head.method, head.path, body});
  } catch (const std::bad_alloc&) {
    return refuse(429);
  } catch (const std::exception&) {
    return refuse(500);
  }
}

}  // namespace

bool answer_request(connection& client, const http_options& options, const http_handler& handler,
                    exchange_rules rules) {
  client.begin();
  const request_head& head = *client.head();
  auto answer = handled(client, head, options, handler);
  const bool refused = !answer,
             closes = refused || rules.last || head.closes || (head.has_body() && !takes_body(head.method));
  if (refused)
    answer = options.refuse(answer.error().status, answer.error().reason);
  const bool compressed = head.takes_gzip && !refused && compress(*answer);
  const bool sent = client.write(head_of(*answer, closes, compressed, options.idle_secs),
                                 head.method == "HEAD" ? std::string_view{} : std::string_view{answer->body},
                                 rules.patience);
  return sent && !closes;
}

void answer_refusal(connection& client, const http_options& options, const refusal& why) {
  const auto answer = options.refuse(why.status, why.reason);
  (void)client.write(head_of(answer, true, false, options.idle_secs), answer.body, {});
}

}  // namespace troupe
