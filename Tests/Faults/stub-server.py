"""A server that misbehaves, for the tests of live sources.

usage: stub-server.py MODE [FILE]

  rtsp-silent         takes connections and never says a word
  rtsp-asked          the same, and prints "asked" when the first request has come
  rtsp-redirect       answers everything with 302 to another port
  rtsp-late-redirect  the same, but answers the first connection well
  http-redirect       like rtsp-redirect
  http-stall          sends FILE, a stream of JPEG pictures, and then nothing more
  http-again          sends FILE and ends the connection, as often as it is asked
  rubbish             answers with a line that is neither HTTP nor RTSP
  mute                hangs up when it was asked
  http-missing        answers that there is nothing
  http-file           answers with a file of known length
  http-words          answers well, with words that are no media
  https-again         like http-again, over TLS, with a certificate for localhost that it signs
                      itself and writes next to FILE, as FILE.pem

Prints its port and the other one. At the end of its input it prints how many connections the other
port saw, and ends.
"""

import socket
import ssl
import subprocess
import sys
import threading


def listen():
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(16)
    return server


def secured(file):
    """A TLS context with a new certificate for localhost."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout",
         file + ".key", "-out", file + ".pem", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost"],
        check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file + ".pem", file + ".key")
    return context


def main():
    mode = sys.argv[1]
    context = secured(sys.argv[2]) if mode.startswith("https") else None
    media = open(sys.argv[2], "rb").read() if len(sys.argv) > 2 else b""
    server, other = listen(), listen()
    port, other_port = server.getsockname()[1], other.getsockname()[1]
    strangers = []
    answered = threading.Lock()

    def serve():
        kept = []
        while True:
            connection, _ = server.accept()
            kept.append(connection)
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection):
        try:
            if context:
                connection = context.wrap_socket(connection, server_side=True)
            if mode == "rtsp-silent":
                return
            request = b""
            while b"\r\n\r\n" not in request:
                piece = connection.recv(4096)
                if not piece:
                    return
                request += piece
            if mode == "rtsp-asked":
                if answered.acquire(blocking=False):
                    print("asked", flush=True)
                return
            if mode == "rtsp-late-redirect" and answered.acquire(blocking=False):
                connection.sendall(b"RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 0\r\n\r\n")
            elif mode in ("rtsp-redirect", "rtsp-late-redirect"):
                connection.sendall(
                    b"RTSP/1.0 302 Moved Temporarily\r\nCSeq: 1\r\n"
                    b"Location: rtsp://127.0.0.1:%d/there\r\n\r\n" % other_port)
            elif mode == "rubbish":
                connection.sendall(b"220 mail.example ESMTP\r\n\r\n")
            elif mode == "mute":
                connection.shutdown(socket.SHUT_RDWR)
            elif mode == "http-missing":
                connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            elif mode == "http-file":
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 9000\r\n\r\n"
                    + bytes(9000))
            elif mode == "http-words":
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + 40 * b"no pictures here\n")
                connection.shutdown(socket.SHUT_RDWR)
            elif mode == "http-redirect":
                connection.sendall(
                    b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:%d/there\r\n"
                    b"Content-Length: 0\r\n\r\n" % other_port)
            else:
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace\r\n\r\n" + media)
                if mode in ("http-again", "https-again"):
                    connection.shutdown(socket.SHUT_RDWR)
                    connection.close()
        except OSError:
            pass

    def watch():
        while True:
            strangers.append(other.accept())

    for work in (serve, watch):
        threading.Thread(target=work, daemon=True).start()
    print(port, other_port, flush=True)
    sys.stdin.read()
    print(len(strangers), flush=True)


main()
