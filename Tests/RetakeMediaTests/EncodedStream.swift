import RetakeCore
import Testing

@testable import RetakeMedia

/// The packets of a file's first video stream, with damages and pictures by packet.
struct EncodedStream {
  let stream: MediaStream
  let file: String
  private(set) var packets: [MediaPacket] = []

  init(file: String) throws {
    self.file = file
    let demuxer = try MediaDemuxer(path: file)
    stream = demuxer.videoStreams[0]
    while let packet = try demuxer.nextPacket() { packets.append(packet) }
  }

  func damages(of packets: [MediaPacket]) throws -> [Int: StreamDamage] {
    var evidence = try #require(StreamEvidence(stream))
    var found: [Int: StreamDamage] = [:]
    for packet in packets { found.merge(evidence.add(packet).damages) { old, _ in old } }
    for (packet, damage) in evidence.finish() { found[packet] = damage }
    return found
  }

  /// Digests of the pictures, by their packets.
  func pictures(of packets: [MediaPacket]) throws -> [Int: Digest128] {
    let decoder = try MediaDecoder(
      stream: stream, file: file, threads: 1, memory: ImageMemory())
    var found: [Int: Digest128] = [:]
    for packet in packets.map(Optional.some) + [nil] {
      for decoded in (try? decoder.decode(packet)) ?? [] {
        found[decoded.packetIndex] = decoded.frame.pixelDigest
      }
    }
    return found
  }
}
