import Foundation
import RetakeBuffers
import RetakeCore
package import RetakeMedia
import RetakeRuntime

/// The result of decoding a track in order.
package struct TrackFacts: Sendable {
  /// In the decoder's order.
  package var frames = FactList()
  /// Packets that the decoder rejected, with the code, in order, and the number of images before.
  package var refused: [(packet: Int, code: String, after: Int)] = []
  package var firstRefusal: MediaError?
  var headers = TrackHeaders()
  /// Messages that the decoder wrote to its log.
  var reports: [DecoderReport] = []
  /// The rotation or mirroring that the first image itself asks for.
  var displayTurn: DisplayTurn?
  var interlaced = InterlacedFrames()
  /// Peak memory of the decoder, in bytes.
  var decoderBytes = 0
  /// The least and the greatest number of images that the decoder has delayed.
  var delays: ClosedRange<Int>?

  /// Whether a decoder that begins later shows the same images: its delay does not depend on the
  /// images before.
  var hasSteadyDelay: Bool { delays.map { $0.count == 1 } ?? true }

  /// Facts of no image, for callers that know the images without decoding.
  package static var none: TrackFacts { TrackFacts() }

  var isDamaged: Bool {
    !refused.isEmpty || frames.hasDamage || !headers.damages.isEmpty
      || reports.contains { $0.isDamage }
  }

  fileprivate mutating func note(delay: Int) {
    delays = min(delays?.lowerBound ?? delay, delay)...max(delays?.upperBound ?? delay, delay)
  }

  /// Adds the facts of the packets after these.
  fileprivate mutating func append(_ other: TrackFacts) {
    if frames.isEmpty { displayTurn = other.displayTurn }
    interlaced.add(other.interlaced)
    refused += other.refused.map { ($0.packet, $0.code, $0.after + frames.count) }
    firstRefusal = firstRefusal ?? other.firstRefusal
    reports += other.reports
    decoderBytes = max(decoderBytes, other.decoderBytes)
    if let delays = other.delays {
      [delays.lowerBound, delays.upperBound].forEach { note(delay: $0) }
    }
    for fact in other.frames { frames.append(fact) }
  }
}

/// Decodes all packets of a track once, in order.
///
/// If the track's headers show that decoding may begin in its middle, two decoders decode one part
/// each. Each decoder has one thread: a frame thread of FFmpeg may return its image before another
/// thread finds an error in it, and it conceals errors with unfinished images.
package struct TrackDecoding {
  private let table: any PacketTable
  private let memory: ImageMemory
  private let report: @Sendable (Int) -> Bool

  /// - Parameter report: Called with the number of images done, from any thread, one at a time; false
  ///   stops.
  package init(
    table: any PacketTable, memory: ImageMemory, report: @escaping @Sendable (Int) -> Bool
  ) {
    (self.table, self.memory, self.report) = (table, memory, report)
  }

  /// - Throws: `SessionError.interrupted`, or when the media's bytes have changed meanwhile.
  package func run() throws -> TrackFacts {
    let (headers, count) = try readHeaders()
    let middle = try middle(of: headers, count: count)
    var facts =
      if let parts = try inTwoParts(count: count, at: middle) { parts } else {
        try inOrder(count: count)
      }
    facts.headers = headers
    return facts
  }

  /// Decodes the track with one decoder.
  func inOrder(count: Int) throws -> TrackFacts {
    try part(0..<count, DecodingProgress(report)).facts
  }

  private func readHeaders() throws -> (headers: TrackHeaders, count: Int) {
    let fetcher = PacketFetcher(table: table)
    var (headers, count) = (TrackHeaders(), 0)
    while let (packet, view) = try fetcher.packet(count) {
      headers.add(packet, of: view)
      count += 1
    }
    headers.finish()
    return (headers, count)
  }

  /// The restart that is nearest to the middle; nil if one decoder has to decode all of the track.
  private func middle(of headers: TrackHeaders, count: Int) throws -> Int? {
    guard headers.isWhole, try allowsTwoDecoders() else { return nil }
    return headers.restarts.filter { $0 > 0 }.min { abs($0 - count / 2) < abs($1 - count / 2) }
  }

  /// Whether the images are small enough for two decoders to hold some each.
  private func allowsTwoDecoders() throws -> Bool {
    guard let first = try table.packet(0) else { return false }
    let stream = try table.segment(first.segment).stream
    let known = PixelFormat(ffmpegName: stream.pixelFormatName)
    let format = known.flatMap { $0.isDeep ? $0 : nil } ?? .i420
    let bytes = format.visibleBytes(width: stream.width, height: stream.height)
    return PixelBudget.ofProcess.allowsTwoDecoders(
      holding: PixelBudget.decoderBytes(forFrameOf: bytes))
  }

  /// - Returns: nil if one decoder has to decode the track: how a decoder conceals damage may
  ///   depend on all packets before.
  private func inTwoParts(count: Int, at middle: Int?) throws -> TrackFacts? {
    guard let middle else { return nil }
    let progress = DecodingProgress(report)
    guard let record = try table.packet(middle) else { preconditionFailure("the track has it") }
    let delay = try table.segment(record.segment).stream.delay
    let parts = Halves()
    NamedThread.concurrently(2, "retake-decode") { number in
      let range = number == 0 ? 0..<middle : middle..<count
      do {
        // The first decoder reads on: the image before a restart may come after it.
        let found = try part(range, progress, margin: number == 0 ? Self.margin + delay : 0)
        parts.set(.success(found), at: number)
      } catch {
        parts.set(.failure(error), at: number)
      }
    }
    let facts = try parts.joined()
    return facts?.isDamaged == false && facts?.hasSteadyDelay == true ? facts : nil
  }

  /// Packets that a decoder may need after the last one of an image: the second field and the next
  /// image.
  private static let margin = 2

  /// Decodes the packets of a range, and the packets of a margin after them.
  private func part(
    _ range: Range<Int>, _ progress: DecodingProgress, margin: Int = 0
  ) throws -> DecodedPart {
    let run = DecodeRun(
      fetcher: PacketFetcher(table: table), from: range.lowerBound, memory: memory,
      keepsReports: true)
    var part = DecodedPart()
    var hasFinished = false
    while true {
      guard let outcome = try run.outcome(before: range.upperBound + margin) else {
        if hasFinished { break }
        run.finish()
        hasFinished = true
        continue
      }
      switch outcome {
      case .frame(let decoded, let shown):
        if let delay = run.delay { part.facts.note(delay: delay) }
        // A decoder may return an image long after its packet; `EntryFinder` has to read as far.
        let fact = DecodedFact(decoded, shown: shown, through: run.next - 1)
        guard decoded.packetIndex < range.upperBound else {
          // A decoder that is drained here leaves out pictures between those that it has.
          if !hasFinished { part.after.append(fact) }
          continue
        }
        if part.facts.frames.isEmpty { part.facts.displayTurn = decoded.displayTurn }
        part.facts.interlaced.add(decoded.firstField)
        part.facts.frames.append(fact)
        guard progress.advance(by: 1) else { throw SessionError.interrupted }
      case .refused(let packet, let cause):
        guard progress.advance(by: 0) else { throw SessionError.interrupted }
        part.facts.refused.append((packet, cause.code, part.facts.frames.count))
        if part.facts.firstRefusal == nil { part.facts.firstRefusal = cause }
      }
    }
    part.facts.decoderBytes = run.decoderBytes
    part.facts.reports = run.reports.filter { $0.packet < range.upperBound }
    return part
  }
}

/// The results of one decoder.
private struct DecodedPart: Sendable {
  var facts = TrackFacts()
  /// Images of the margin, which belong to the next part.
  var after: [DecodedFact] = []
}

/// The parts of two decoders.
private final class Halves: @unchecked Sendable {
  // SAFETY: @unchecked because of the mutable state, all of it guarded by `lock`.
  private let lock = NSLock()
  private var parts: [Result<DecodedPart, any Error>?] = [nil, nil]

  func set(_ part: Result<DecodedPart, any Error>, at number: Int) {
    lock.withLock { parts[number] = part }
  }

  /// - Returns: nil if the second decoder did not begin as the first one continued, or if there was no
  ///   memory for both.
  func joined() throws -> TrackFacts? {
    lock.lock()
    defer { lock.unlock() }
    do {
      guard let first = try parts[0]?.get(), let second = try parts[1]?.get() else { return nil }
      guard Self.agree(first.after, second.facts.frames) else { return nil }
      var facts = first.facts
      facts.append(second.facts)
      return facts
    } catch {
      if error.isAboutMemory { return nil }
      throw error
    }
  }

  private static func agree(_ after: [DecodedFact], _ frames: FactList) -> Bool {
    !after.isEmpty && after.count <= frames.count
      && zip(after, frames).allSatisfy {
        $0.packet == $1.packet && $0.shown == $1.shown && $0.digest == $1.digest
          && $0.shape == $1.shape
      }
  }
}

/// Counts the images of all decoders.
private final class DecodingProgress: @unchecked Sendable {
  // SAFETY: @unchecked because of the mutable state, all of it guarded by `lock`.
  private let lock = NSLock()
  private let report: @Sendable (Int) -> Bool
  private var count = 0
  /// Calls of `advance`, also for packets that the decoder refused.
  private var calls = 0
  private var isStopped = false

  private static let reportEvery = 64

  init(_ report: @escaping @Sendable (Int) -> Bool) { self.report = report }

  /// - Returns: false to stop.
  func advance(by images: Int) -> Bool {
    lock.withLock {
      count += images
      calls += 1
      if calls.isMultiple(of: Self.reportEvery), !report(count) { isStopped = true }
      return !isStopped
    }
  }
}
