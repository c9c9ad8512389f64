package import RetakeBuffers
package import RetakeCore
package import RetakeMedia
import RetakeStore

/// Facts about one image, from decoding a track in order.
package struct DecodedFact: Hashable, Sendable {
  /// The shape of images; a different shape begins another segment.
  package struct Shape: Hashable, Sendable {
    package var width: Int
    package var height: Int
    package var format: PixelFormat
    /// What the pictures themselves say about how they are shown; nil for those whose
    /// description is the container's alone.
    package var labels: Labels?

    package init(width: Int, height: Int, format: PixelFormat, labels: Labels? = nil) {
      (self.width, self.height, self.format) = (width, height, format)
      self.labels = labels
    }
  }

  /// How the samples of an image are shown.
  package struct Labels: Hashable, Sendable {
    package var aspect: SampleAspect
    package var range: ColorRange
    package var matrix: ColorMatrix

    package init(_ frame: Frame) {
      (aspect, range, matrix) = (frame.sampleAspect, frame.range, frame.matrix)
    }
  }

  var packet: Int
  /// Number of images that the packet gave before this one.
  var shown: Int
  /// The last packet that the decoder had received when it returned the image.
  var through: Int
  package var pts: Int64?
  package var bestEffort: Int64?
  /// In units of the time base; 0 when unknown.
  var duration: Int64
  /// Digest of the visible bytes.
  package var digest: Digest128
  /// Why the pixels cannot be trusted.
  var damage: String?
  package var shape: Shape

  package init(
    packet: Int, shown: Int, through: Int? = nil, pts: Int64?, bestEffort: Int64?, duration: Int64,
    digest: Digest128, damage: String? = nil, shape: Shape
  ) {
    self.packet = packet
    self.shown = shown
    self.through = through ?? packet
    self.pts = pts
    self.bestEffort = bestEffort
    self.duration = duration
    self.digest = digest
    self.damage = damage
    self.shape = shape
  }

  init(_ decoded: DecodedFrame, shown: Int, through: Int) {
    packet = decoded.packetIndex
    self.shown = shown
    self.through = through
    pts = decoded.pts
    bestEffort = decoded.bestEffortTimestamp
    duration = decoded.duration
    digest = decoded.frame.pixelDigest
    damage = decoded.isDamaged ? FrameCause.damaged : nil
    shape = Shape(
      width: decoded.frame.width, height: decoded.frame.height, format: decoded.frame.format,
      labels: Labels(decoded.frame))
  }
}

/// The result of decoding a track in order.
package struct TrackFacts: Sendable {
  /// How far the facts can be trusted.
  enum Standing: Hashable, Sendable {
    /// One thread decoded the track: the facts are reproducible.
    case settled
    /// Several threads decoded the track, and found no damage. A frame thread of FFmpeg may return
    /// its image before another thread finds an error in it, and it conceals errors with unfinished
    /// images. Damage may therefore be missed, and the pixels then differ each time.
    case provisional
  }

  /// In the decoder's order.
  package var frames = FactList()
  /// Packets that the decoder rejected, with the code, in order, and the number of images before.
  package var refused: [(packet: Int, code: String, after: Int)] = []
  package var firstRefusal: MediaError?
  /// Damage that the packets' headers show, by packet. It names each picture that it reaches.
  var evidence: [Int: StreamDamage] = [:]
  /// Packets whose damage reaches no other picture; known if one thread decoded the track.
  var disposable: Set<Int> = []
  /// Packets whose damage reaches no picture but others of this set; known likewise.
  var leading: Set<Int> = []
  /// What the decoder wrote to its log.
  var reports: [DecoderReport] = []
  /// What the first image itself says about how it is shown.
  var displayTurn: DisplayTurn?
  /// Peak memory of the decoder, in bytes.
  var decoderBytes = 0
  var standing = Standing.settled

  /// Facts of no image, for those who know them without decoding.
  package static var none: TrackFacts { TrackFacts() }

  var isDamaged: Bool {
    !refused.isEmpty || frames.hasDamage || !evidence.isEmpty || reports.contains { $0.isDamage }
  }
}

/// Decodes a whole track once, in order.
package struct TrackDecoding {
  private let table: any PacketTable
  private let memory: PictureMemory
  private let report: (Int) -> Bool

  /// - Parameter report: Called with the number of images done; false stops.
  package init(table: any PacketTable, memory: PictureMemory, report: @escaping (Int) -> Bool) {
    (self.table, self.memory, self.report) = (table, memory, report)
  }

  /// Decodes the track, with several threads if possible. Facts of a track without damage are
  /// provisional until `EntryFinder` has confirmed them.
  ///
  /// - Throws: `SessionError.interrupted`, or when the media's bytes have changed meanwhile.
  package func run() throws(SessionError) -> TrackFacts {
    guard try allowsThreads() else { return try settled() }
    var fast: TrackFacts
    do throws(SessionError) {
      fast = try run(threads: Self.threads)
    } catch {
      // Each thread holds images, so one thread may succeed.
      guard error.isAboutMemory else { throw error }
      return try settled()
    }
    // What several threads conceal depends on their timing; one thread gives
    // the same facts each time.
    if fast.isDamaged || fast.frames.isEmpty { return try settled() }
    fast.standing = .provisional
    return fast
  }

  /// Decodes the track with one thread.
  ///
  /// - Throws: The same errors as `run`.
  func settled() throws(SessionError) -> TrackFacts { try run(threads: 1) }

  /// Whether the images are small enough for several threads to hold some each.
  private func allowsThreads() throws(SessionError) -> Bool {
    guard let first = try table.packet(0) else { return false }
    let stream = try table.segment(first.segment).stream
    let known = PixelFormat(ffmpegName: stream.pixelFormatName)
    let format = known.flatMap { $0.isDeep ? $0 : nil } ?? .i420
    let bytes = format.visibleBytes(width: stream.width, height: stream.height)
    return PixelBudget.ofProcess.allowsTwoDecoders(
      holding: PixelBudget.decoderBytes(forFrameOf: bytes))
  }

  private static let threads = 2
  private static let reportEvery = 64

  private func run(threads: Int) throws(SessionError) -> TrackFacts {
    let decoding = DecodeRun(
      fetcher: PacketFetcher(table: table), from: 0, memory: memory, threads: threads,
      readsHeaders: true)
    var facts = TrackFacts()
    while let outcome = try decoding.outcome() {
      switch outcome {
      case .frame(let decoded, let shown):
        if facts.frames.isEmpty { facts.displayTurn = decoded.displayTurn }
        // A decoder may return an image long after its packet; `EntryFinder` has to read as far.
        facts.frames.append(DecodedFact(decoded, shown: shown, through: decoding.next - 1))
        if facts.frames.count.isMultiple(of: Self.reportEvery), !report(facts.frames.count) {
          throw .interrupted
        }
      case .refused(let packet, let cause):
        facts.refused.append((packet, cause.code, facts.frames.count))
        if facts.firstRefusal == nil { facts.firstRefusal = cause }
      }
    }
    facts.decoderBytes = decoding.decoderBytes
    (facts.evidence, facts.reports) = (decoding.evidence, decoding.reports)
    (facts.disposable, facts.leading) = (decoding.disposable, decoding.leading)
    return facts
  }
}
