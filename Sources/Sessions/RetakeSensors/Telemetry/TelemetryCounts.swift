import RetakeCore
package import RetakeMedia

/// How many samples a camera had measured since the beginning of the recording, at each packet of a
/// file's telemetry (`TSMP` of GPMF).
package struct TelemetryCounts: Hashable, Sendable {
  private struct Count: Hashable {
    /// Before the first packet, before the last packet, and after it.
    var first: Int
    var beforeLast: Int
    var end: Int
  }

  private var counts: [TelemetryPayload.Identity: Count] = [:]
  /// When the first packet begins, as in the file.
  package let startNanoseconds: Int64
  /// When the last packet begins. Its duration is not used: a program that cuts files shortens it.
  private let lastNanoseconds: Int64

  /// - Returns: nil if the stream has no counts, or cannot be read.
  package init?(path: String, stream: MediaStream) {
    guard let demuxer = try? MediaDemuxer(path: path) else { return nil }
    demuxer.select([stream.index])
    // Ends: at the end of the file, or at an error.
    self.init(of: stream) { try? demuxer.nextPacket() }
  }

  /// - Parameter next: Returns the packets of a file in their order.
  package init?(of stream: MediaStream, _ next: () -> MediaPacket?) {
    var (first, last) = (Int64?.none, Int64(0))
    while let packet = next() {
      guard packet.stream == stream.index, let pts = packet.pts,
        let start = Timestamp(pts: pts, timeBase: stream.timeBase)?.nanoseconds
      else { continue }
      (first, last) = (first ?? start, start)
      guard let payloads = try? TelemetryPayload.all(in: packet) else { return nil }
      for payload in payloads {
        guard let total = payload.total else { continue }
        let before = counts[payload.identity]?.end ?? total - payload.samples.count
        counts[payload.identity] = Count(
          first: counts[payload.identity]?.first ?? before, beforeLast: before, end: total)
      }
    }
    guard let first, !counts.isEmpty else { return nil }
    (startNanoseconds, lastNanoseconds) = (first, last)
  }

  /// When the telemetry of the next file begins, on the clock of this file: counted in samples from
  /// the last packet on.
  ///
  /// - Returns: nil if the counts begin again.
  package func start(of next: TelemetryCounts) -> Int64? {
    // The sensor with the most samples measures time best.
    let best = counts.filter { next.counts[$0.key] != nil }.max {
      ($0.value.end - $0.value.first, $0.key.key, $0.key.device)
        < ($1.value.end - $1.value.first, $1.key.key, $1.key.device)
    }
    guard let (identity, own) = best, own.beforeLast > own.first,
      let other = next.counts[identity], other.first > 0
    else { return nil }
    let length = Int128(lastNanoseconds) - Int128(startNanoseconds)
    let passed = divideToNearest(
      Int128(other.first - own.beforeLast) * length, by: Int128(own.beforeLast - own.first))
    return Int64(clamping: Int128(lastNanoseconds) + passed)
  }
}
