import RetakeMedia

/// A packet as the source sent it.
struct OriginalPacket: Sendable {
  var packet: MediaPacket
  var stream: MediaStream
  /// Packets from a key packet on that gave no picture, before the first picture of a connection.
  var rollIn: [MediaPacket] = []
}
