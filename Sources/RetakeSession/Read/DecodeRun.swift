import RetakeBuffers
import RetakeCore
import RetakeMedia

/// What made it out of a decoder, or did not.
enum DecodeOutcome: Sendable {
  /// The picture, and how many its packet had given before: a picture that is shown again counts on
  /// with the packet that it was decoded from.
  case frame(DecodedFrame, shown: Int)
  /// The decoder refused this packet, or could not finish a frame after it.
  case refused(packet: Int, cause: MediaError)
}

/// Decodes one track from a given packet on, in order, with a decoder that knows nothing else.
///
/// Passes from one media file to the next where segments do. One thread at a time uses it.
final class DecodeRun {
  let fetcher: PacketFetcher
  private let memory: PictureMemory
  private let threads: Int
  private var decoder: MediaDecoder?
  private var view: SegmentView?
  private var ready: [DecodeOutcome] = []
  private var hasEnded = false
  /// The most that one of its decoders held, in bytes.
  private var bytesMost = 0
  /// The packet that is read next.
  private(set) var next: Int
  /// The packet that the run began with.
  let start: Int
  /// How many pictures each packet gave, from `start` on. A decoder may show a picture again as
  /// long as it keeps it, so no packet is too old.
  private var shownCounts: [UInt32] = []

  /// Pictures that a decoder gives for one packet, with room to spare.
  private static let picturesMax = 64

  init(fetcher: PacketFetcher, from packet: Int, memory: PictureMemory, threads: Int = 1) {
    self.fetcher = fetcher
    self.memory = memory
    self.threads = threads
    next = packet
    start = packet
  }

  /// What its decoder holds now, in bytes.
  var bytesHeld: Int { decoder?.pictures.bytesHeld ?? 0 }

  /// The most that a decoder of this run held at a time, in bytes.
  var decoderBytes: Int { max(bytesMost, decoder?.pictures.bytesMost ?? 0) }

  /// The next picture or refusal in the decoder's order; nil at the end of the track.
  ///
  /// - Throws: What is wrong with the bytes; and that there was no memory, which says nothing about
  ///   the packet.
  func outcome() throws(SessionError) -> DecodeOutcome? {
    while ready.isEmpty {
      guard !hasEnded else { return nil }
      try step(to: nil)
    }
    return try takeReady()
  }

  /// As `outcome`, but nil as soon as the packets before `limit` gave all that they give without
  /// more; call `finish` for what the decoder still holds back.
  func outcome(before limit: Int) throws(SessionError) -> DecodeOutcome? {
    while ready.isEmpty {
      guard !hasEnded, next < limit else { return nil }
      try step(to: limit)
    }
    return try takeReady()
  }

  private func takeReady() throws(SessionError) -> DecodeOutcome {
    let outcome = ready.removeFirst()
    if case .refused(_, let cause) = outcome, cause.isAboutMemory { throw SessionError(cause) }
    return outcome
  }

  /// Ends the run here, so that what the decoder holds back comes out.
  func finish() {
    guard !hasEnded else { return }
    drain()
    hasEnded = true
  }

  private func step(to limit: Int?) throws(SessionError) {
    guard let (packet, view) = try fetcher.packet(next) else {
      finish()
      return
    }
    if let current = self.view, current.file !== view.file { drain() }
    if decoder == nil {
      decoder = try fromMedia { () throws(MediaError) in
        try MediaDecoder(
          stream: view.stream, file: view.file.path, threads: threads, memory: memory)
      }
    }
    self.view = view
    next += 1
    do throws(MediaError) {
      try decoder?.send(packet)
    } catch {
      ready.append(.refused(packet: packet.index, cause: error))
    }
    receive(after: packet.index)
  }

  /// Takes what is finished. A decoder gives at most so many pictures for one packet.
  private func receive(after packet: Int) {
    for _ in 0..<Self.picturesMax {
      do throws(MediaError) {
        guard let frame = try decoder?.receive() else { return }
        ready.append(.frame(frame, shown: count(frame.packetIndex)))
      } catch {
        ready.append(.refused(packet: packet, cause: error))
      }
    }
  }

  private func drain() {
    do throws(MediaError) {
      try decoder?.drain()
    } catch {
      ready.append(.refused(packet: max(start, next - 1), cause: error))
    }
    receive(after: max(start, next - 1))
    bytesMost = decoderBytes
    decoder = nil
  }

  /// Counts a picture of a packet.
  ///
  /// - Returns: how many there were before.
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
