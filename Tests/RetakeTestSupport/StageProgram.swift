/// Programs that speak the stage protocol with only Python's standard library.
package enum StageProgram {
  /// The beginning of each program: `receive()` returns a message, `send(…)` sends a message.
  package static let conversation = """
    import json, mmap, os, signal, socket, struct, sys
    channel = socket.socket(fileno=3)
    pixels = mmap.mmap(4, 0, prot=mmap.PROT_READ)

    def exactly(count):
        data = b""
        while len(data) < count:
            piece = channel.recv(count - len(data))
            if not piece:
                sys.exit(0)
            data += piece
        return data

    def receive():
        return json.loads(exactly(struct.unpack("<I", exactly(4))[0]))

    def send_bytes(data):
        channel.sendall(struct.pack("<I", len(data)) + data)

    def send(message):
        send_bytes(json.dumps(message).encode())


    """
}
