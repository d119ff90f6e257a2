#!/usr/bin/env python3
"""Sends requests that hide a second one through HAProxy to `troupe serve`, and checks that no other client gets its answer.

Usage: smuggle.py --program TROUPE [--tries N] [--only TEXT]      (./dev smuggle builds it and installs haproxy first)

HAProxy is Debian's, with its default reuse of connections to the server, on the loopback. For each request of
tests/modules/http/hostile_requests.txt, N times: an attacker sends it, with a second one hidden in it, and takes the answer. By turns this is
a prediction of his own rows, and a question without its end, which whatever follows on the connection would complete. Before and after it
another client asks for predictions, over connections to the server that the attacker's requests had gone over. Each of its answers has to be
that to its own rows, and nothing may follow them. At the end the server must not have answered more requests than HAProxy has sent it.
"""
import argparse
import csv
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
REQUESTS = ROOT / "tests/modules/http/hostile_requests.txt"
COLUMNS, NAME, LIMIT_S = 784, "m", 120
PREDICT = f"/v1/models/{NAME}:predict"
PATIENCE_S, ATTACKERS_PATIENCE_S = 10, 0.2  # For an answer that has to come, and for one that may.


# The end of this question is a header, of which the first line of the next request would become the value.
WITHOUT_END = f"GET /v1/models/{NAME}/metadata HTTP/1.1\r\nHost: t\r\nX: ".encode()


# -- requests ---------------------------------------------------------------------------------

def prediction(value):
    body = b'{"instances": [[%s]]}' % b",".join([b"%g" % value] * COLUMNS)
    return b"POST %s HTTP/1.1\r\nHost: t\r\nContent-Length: %d\r\n\r\n%s" % (PREDICT.encode(), len(body), body)


def unescaped(text):
    """\\r \\n \\t \\\\ and \\xHH, as the file of requests has them; other characters are their UTF-8."""
    return re.sub(rb"\\(x[0-9a-f]{2}|.)", lambda m: bytes([int(m[1][1:], 16)]) if m[1][:1] == b"x" else
                  {b"r": b"\r", b"n": b"\n", b"t": b"\t", b"\\": b"\\"}[m[1]], text.encode())


def hostile_requests(second):
    length = b"%d" % len(second)
    post, host, framing = b"POST %s HTTP/1.1\r\n" % PREDICT.encode(), b"Host: t\r\n", b"Content-Length: %s\r\n" % length
    for line in REQUESTS.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        kind, _, text = (line + " ").split(" ", 2)
        text = unescaped(text[:-1]).replace(b"{n}", length).replace(b"{predict}", PREDICT.encode())
        text = re.sub(rb"(?s)\{([^{}]+)\*([0-9]+)\}", lambda m: m[1] * int(m[2]), text)
        yield line, {"line": text + b"\r\n" + host + framing + b"\r\n" + second,
                     "path": b"GET " + text + b" HTTP/1.1\r\n" + host + framing + b"\r\n" + second,
                     "header": post + host + framing + text + b"\r\n\r\n" + second,
                     "framing": post + host + text + b"\r\n\r\n" + second,
                     "host": post + text + b"\r\n" + framing + b"\r\n" + second,
                     "chunks": post + host + b"Transfer-Encoding: chunked\r\n\r\n" + text + second}[kind]


def with_each_hidden(*hidden):
    """(line, request...): each line of the file with each of the hidden ones."""
    for pairs in zip(*map(hostile_requests, hidden)):
        yield pairs[0][0], *(request for _, request in pairs)


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(PATIENCE_S)
        self.came = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:  # Whoever is refused early reads the answer.
            pass

    def receive(self):
        """(status, body) of the next answer; None where the connection ends."""
        while b"\r\n\r\n" not in self.came:
            if not self.more():
                return None
        head, self.came = self.came.split(b"\r\n\r\n", 1)
        length = re.search(rb"(?i)\r\ncontent-length: *([0-9]+)", head)
        if not length:  # Of HAProxy's own answers: they end with the connection.
            while self.more():
                pass
        size = int(length[1]) if length else len(self.came)
        while len(self.came) < size:
            if not self.more():
                return None
        body, self.came = self.came[:size], self.came[size:]
        return int(head.split(b" ", 2)[1]), body

    def more(self):
        try:
            part = self.socket.recv(65536)
        except ConnectionError:
            return False
        self.came += part
        return bool(part)


# -- the server, and the proxy before it -----------------------------------------------------------

def run(program, *arguments, cwd):
    subprocess.run([program, *map(str, arguments)], cwd=cwd, check=True, timeout=LIMIT_S, stdout=subprocess.DEVNULL)


def start_server(program, work):
    """The process, and the port at which it predicts."""
    run(program, "train", "--config", ROOT / "scripts/fashion_mnist.toml", "--model-dir", "run", "--max-steps", 2, "--set", "evaluate.steps=1", cwd=work)
    run(program, "export", "run", cwd=work)
    server = subprocess.Popen([program, "serve", "run", "--name", NAME, "--port", "0", "--json"], cwd=work, text=True, stdout=subprocess.PIPE)
    line = server.stdout.readline()
    if not line:
        raise SystemExit("the server did not begin to answer")
    return server, int(re.search(r":([0-9]+)/", json.loads(line)["address"])[1])


def start_proxy(work, server_port):
    """The process, and the port of its front; that socket is bound here, so that nobody else has it."""
    with socket.socket() as front:
        front.bind(("127.0.0.1", 0))
        front.listen(128)
        (work / "haproxy.cfg").write_text(f"""
global
  stats socket {work}/stats mode 600
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend front
  bind fd@{front.fileno()}
  default_backend back
backend back
  server troupe 127.0.0.1:{server_port}
""")
        program = shutil.which("haproxy") or "/usr/sbin/haproxy"
        proxy = subprocess.Popen([program, "-db", "-f", work / "haproxy.cfg"], pass_fds=[front.fileno()], stdout=subprocess.DEVNULL,
                                 stderr=(work / "haproxy.log").open("w"))
        return proxy, front.getsockname()[1]


def sent_by_proxy(work):
    with socket.socket(socket.AF_UNIX) as stats:
        stats.connect(str(work / "stats"))
        stats.sendall(b"show stat\n")
        text = b"".join(iter(lambda: stats.recv(65536), b"")).decode().lstrip("# ")
    row = next(row for row in csv.DictReader(text.splitlines()) if row["svname"] == "troupe")
    return int(row["stot"]) + int(row["wretr"]), int(row["reuse"])


def answered(port):
    with Client(port) as client:
        client.send(b"GET /metrics HTTP/1.1\r\nHost: t\r\n\r\n")
        text = client.receive()[1].decode()
    return sum(int(n) for n in re.findall(r"^troupe_serve_requests_total\{.*\} ([0-9]+)$", text, re.MULTILINE))


# -- the attack ---------------------------------------------------------------------------------------

def ask(client, value, wanted):
    """What is wrong with the answer that a client gets."""
    client.send(prediction(value))
    got = client.receive()
    return None if got == (200, wanted) else f"another client got {got and (got[0], got[1][:80])} in place of the answer to its rows"


def attack(attacker, request):
    """Whether an answer came, for which an attacker waits no longer than he has to."""
    attacker.socket.settimeout(ATTACKERS_PATIENCE_S)
    attacker.send(request)
    try:
        return attacker.receive() is not None
    except TimeoutError:
        return False


def attempt(port, request, value, wanted):
    """Whether the attacker got an answer, and what is wrong with those of another client: the proxy sends the first request of a client over
    a connection of its own, and later ones over any that is free, so that both have made a first one."""
    with Client(port) as attacker, Client(port) as other:
        attacker.send(b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n")
        attacker.receive()
        wrong = ask(other, value, wanted)
        answered = attack(attacker, request)
        for _ in range(2):
            wrong = wrong or ask(other, value, wanted)
        other.socket.setblocking(False)
        try:
            other.more()
        except BlockingIOError:
            pass
        return answered, wrong or (other.came and "another client got an answer that it had not asked for")


def smuggle(options, work):
    server, server_port = start_server(options.program, work)
    proxy = None
    try:
        values, wanted = (0.25, 0.5, 0.75), {}
        for value in (*values, 1):
            with Client(server_port) as client:
                client.send(prediction(value))
                status, wanted[value] = client.receive()
                assert status == 200, wanted[value]
        assert len(set(wanted.values())) == 4, "the answers do not tell the rows apart"
        proxy, port = start_proxy(work, server_port)
        before = answered(server_port)
        trouble, forms, tries, silent, began = [], 0, 0, 0, time.monotonic()
        for (line, *requests) in with_each_hidden(prediction(1), WITHOUT_END):
            if options.only not in line:
                continue
            wrong = {}
            for k in range(options.tries):
                value = values[k % len(values)]
                got, reason = attempt(port, requests[k % 2], value, wanted[value])
                silent += not got
                if reason:
                    wrong[reason] = wrong.get(reason, 0) + 1
            forms, tries = forms + 1, tries + options.tries
            trouble += [f"{line[:100]}: {n} of {options.tries} tries: {reason}" for reason, n in wrong.items()]
        sent, reused = sent_by_proxy(work)
        made = answered(server_port) - before - 1
        print(f"{forms} requests, {tries} tries in {time.monotonic() - began:.0f} s, {silent} without an answer; HAProxy sent {sent} requests, {reused} of them over connections that others "
              f"had used, and the server answered {made}")
        if made > sent:
            trouble.append(f"the server made {made - sent} answers that nobody had asked for")
        if reused == 0 or forms == 0:
            trouble.append("no connection was used again, or nothing was tried: this shows nothing")
        return trouble
    finally:
        for process in (proxy, server):
            if process:
                process.terminate()
                process.wait()


def main():
    parser = argparse.ArgumentParser(prog="./dev smuggle", description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--tries", type=int, default=200, help="of each request")
    parser.add_argument("--only", default="", help="requests whose line contains this")
    options = parser.parse_args()
    options.program = options.program.resolve()
    work = pathlib.Path(tempfile.mkdtemp(prefix="troupe-smuggle-"))
    try:
        trouble = smuggle(options, work)
    finally:
        shutil.rmtree(work)
    print("\n".join(trouble) or "every client got the answers to its own requests, and no others")
    return bool(trouble)


if __name__ == "__main__":
    sys.exit(main())
