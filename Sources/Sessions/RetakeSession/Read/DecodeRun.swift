import RetakeBuffers
import RetakeCore
package import RetakeMedia

/// Decodes one track in order from a given packet, with a new decoder.
///
/// It continues from one media file to the next as the segments do. Only one thread at a time uses
/// it.
package final class DecodeRun {
  let fetcher: PacketFetcher
  private let memory: ImageMemory
  private let threads: Int
  private var decoder: MediaDecoder?
  private var view: SegmentView?
  private var ready: [DecodeOutcome] = []
  private var hasEnded = false
  /// Peak memory of one of its decoders, in bytes.
  private var bytesMost = 0
  /// The next packet to read.
  private(set) var next: Int
  /// The packet at which the run began.
  let start: Int
  /// Number of pictures that each packet has given, from `start` on. A decoder may show a picture
  /// again while it keeps it, so packets of any age are counted.
  private var shownCounts: [UInt32] = []
  private let keepsReports: Bool
  /// Messages in the decoders' logs, at most one damage and one remark of a packet.
  private(set) var reports: [DecoderReport] = []

  /// Upper bound of the reports that are kept.
  private static let reportsMax = 10_000
  /// The aspects of the segments that were read, each with its first packet; the decoder itself has
  /// the aspect of the segment at which it was opened.
  private var aspects: [(packet: Int, aspect: SampleAspect)] = []

  /// An image follows its packet before this many changes.
  private static let aspectsMax = 1_024

  /// Upper bound of the pictures that a decoder returns for one packet.
  private static let picturesMax = 64

  /// - Parameter keepsReports: Collect `reports`.
  package init(
    fetcher: PacketFetcher, from packet: Int, memory: ImageMemory, threads: Int = 1,
    keepsReports: Bool = false
  ) {
    self.keepsReports = keepsReports
    self.fetcher = fetcher
    self.memory = memory
    self.threads = threads
    next = packet
    start = packet
  }

  /// Current memory of its decoder, in bytes.
  var bytesHeld: Int { decoder?.pictures.bytesHeld ?? 0 }

  /// Number of pictures that its decoder delays now; nil without one.
  var delay: Int? { decoder?.delay }

  /// Peak memory of a decoder of this run, in bytes.
  var decoderBytes: Int { max(bytesMost, decoder?.pictures.bytesMost ?? 0) }

  /// The next picture or rejection in the decoder's order; nil at the end of the track.
  ///
  /// - Throws: An error of the media's bytes, or a lack of memory, which does not mean that the
  ///   packet is damaged.
  package func outcome() throws -> DecodeOutcome? {
    while ready.isEmpty {
      guard !hasEnded else { return nil }
      try step(to: nil)
    }
    return try takeReady()
  }

  /// Like `outcome`, but returns nil when the decoder has returned every picture that it can return
  /// without packets from `limit` on; call `finish` to get the pictures that the decoder still
  /// delays.
  package func outcome(before limit: Int) throws -> DecodeOutcome? {
    while ready.isEmpty {
      guard !hasEnded, next < limit else { return nil }
      try step(to: limit)
    }
    return try takeReady()
  }

  private func takeReady() throws -> DecodeOutcome {
    let outcome = ready.removeFirst()
    if case .refused(_, let cause) = outcome, cause.isAboutMemory { throw cause }
    return outcome
  }

  /// Ends the run here, so that the decoder returns the pictures it delays.
  package func finish() {
    guard !hasEnded else { return }
    drain()
    hasEnded = true
  }

  private func step(to limit: Int?) throws {
    guard let (packet, view) = try fetcher.packet(next) else {
      finish()
      return
    }
    // docs/formats/session.md: a decoder is drained and opened again where the media file changes,
    // unless the packets continue.
    if let current = self.view, current.file !== view.file, !view.continues { drain() }
    // The new decoder is asked, too, so that it knows its first packet.
    if decoder?.mustDrain(before: packet) == true { drain() }
    let isNew = decoder == nil
    if isNew {
      decoder = try MediaDecoder(
        stream: view.stream, file: view.file.path, threads: threads, memory: memory)
    }
    noteAspect(view.stream)
    if isNew { _ = decoder?.mustDrain(before: packet) }
    self.view = view
    // Counted before it is sent, so that a rejected packet is not sent again.
    next += 1
    do {
      try decoder?.send(packet)
    } catch {
      // Not an end: packets after a rejected one may be good.
      ready.append(.refused(packet: packet.index, cause: error))
    }
    receive(after: packet.index)
    keepReports()
  }

  private func keepReports() {
    guard keepsReports, let decoder, reports.count < Self.reportsMax else { return }
    reports += decoder.takeReports()
  }

  /// Receives the finished pictures. Bounded by `picturesMax` per packet.
  private func receive(after packet: Int) {
    for _ in 0..<Self.picturesMax {
      do {
        guard var frame = try decoder?.receive() else { return }
        place(&frame)
        ready.append(.frame(frame, shown: count(frame.packetIndex)))
      } catch {
        ready.append(.refused(packet: packet, cause: error))
      }
    }
  }

  private func noteAspect(_ stream: MediaStream) {
    // While a stream is imported, each picture has its own aspect.
    guard !stream.aspectFollowsPictures, aspects.last?.aspect != stream.sampleAspect else { return }
    aspects.append((next, stream.sampleAspect))
    if aspects.count > Self.aspectsMax { aspects.removeFirst() }
  }

  /// Sets the image's aspect to the aspect of its packet's segment.
  private func place(_ frame: inout DecodedFrame) {
    guard aspects.count > 1 else { return }
    let aspect = aspects.last { $0.packet <= frame.packetIndex } ?? aspects[0]
    frame.frame.sampleAspect = aspect.aspect
  }

  private func drain() {
    do {
      try decoder?.drain()
    } catch {
      // An error of the drain belongs to the last packet that was sent.
      ready.append(.refused(packet: max(start, next - 1), cause: error))
    }
    receive(after: max(start, next - 1))
    // Kept, because the memory's own counter ends with the decoder.
    bytesMost = decoderBytes
    keepReports()
    decoder = nil
  }

  /// Counts a picture of a packet.
  ///
  /// - Returns: the number of earlier pictures of that packet.
  private func count(_ packet: Int) -> Int {
    let place = packet - start
    guard place >= 0, place < next - start else { return 0 }
    if place >= shownCounts.count {
      shownCounts += [UInt32](repeating: 0, count: next - start - shownCounts.count)
    }
    shownCounts[place] += 1
    return Int(shownCounts[place]) - 1
  }
}
