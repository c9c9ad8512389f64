public import RetakeBuffers
public import RetakeCore
package import RetakeGraph

/// How a pipeline runs live.
public struct LiveOptions: Sendable {
  /// Threads that compute, in addition to the decision thread. The default is the number of
  /// processors, but at least 2 and at most 4.
  public var workers: Int
  /// Frames that may wait for a decision. Such a wait takes microseconds, unless the machine
  /// stalls. A frame beyond the bound is lost before capture.
  public var waitingFramesMax = 64
  /// Results that may wait for the reader of `LiveSession.results`; the oldest are dropped first.
  public var waitingResultsMax = 1_024
  /// Deliveries that may wait for slow sinks. At the bound, decisions wait for the sinks, and
  /// frames are lost before capture.
  public var waitingDeliveriesMax = 1_024
  /// How long `stop` waits, in real time, for frames in flight.
  public var drain = Duration.seconds(1)
  /// How much the threads that compute leave the processor to others, 0 to 19, as `nice` counts
  /// (nice(2)). With a preview of the same frames, `nicenessBelowPreview` keeps its image ahead of
  /// what is found in it. It has an effect on Linux.
  public var niceness = 0
  /// About a tenth of the processor, as long as a thread of normal priority needs it.
  public static let nicenessBelowPreview = 10
  /// Receives what stages tell during the run, on the threads that compute.
  package var notices: (@Sendable (StageNotice) -> Void)?

  /// `nil` is the default of `workers`. `LiveSession.init` throws `RuntimeError.badOption` for a
  /// number outside 1 to 255, and for a bound below 1.
  public init(workers: Int? = nil) {
    self.workers = workers ?? Self.defaultWorkers
  }
}

/// A track whose frames are pushed to a live pipeline.
public struct LiveTrack: Hashable, Sendable {
  /// The track number that source nodes refer to.
  public var track: Int
  /// The unit of the frames' `pts`.
  public var timeBase: TimeBase
  /// The format of the first frames. Stages that need another format get a `convert` before them.
  public var format: PixelFormat
  /// Pixels.
  public var width: Int
  /// Pixels.
  public var height: Int

  /// A track whose frames have this size and format. By default it is track 0, and `pts` are
  /// nanoseconds.
  public init(
    track: Int = 0, timeBase: TimeBase = TimeBase(1, 1_000_000_000), format: PixelFormat,
    width: Int, height: Int
  ) {
    self.track = track
    self.timeBase = timeBase
    self.format = format
    self.width = width
    self.height = height
  }
}

/// Counts of the frames of a live run so far.
public struct LiveCounts: Hashable, Sendable {
  /// At the primary sink. Frames in flight are counted as captured, and have no other count yet.
  public var ledger = FrameLedger()
  /// Frames that arrived while a block edge of the source was full or its pool was empty.
  public var lostBeforeCapture = 0
  /// Frames that arrived faster than the decision loop could take them, or after `stop`.
  public var refused = 0
  /// Counts of each track that a source reads; `refused` frames count as lost.
  public var tracks: [RunOutcome.TrackCounts] = []
  /// Results that were not read in time.
  public var resultsDropped = 0
  /// Counts of the pools that adapt to the load.
  public var pools: [PoolCounts] = []
  /// Counts of the sources where frames have waited for a buffer.
  package var waits: [WaitCounts] = []
  /// Events that were handled: frames, ends of bodies, changes of the device, commands and timers.
  package var externalEvents = 0
  /// The number of decision lines.
  public var decisions = 0

  package init() {}
}

/// The form that tracks have in a session's `run` table.
extension LiveTrack {
  package var json: JSONValue {
    .object([
      "track": .integer(Int64(track)), "format": .string(format.rawValue),
      "width": .integer(Int64(width)), "height": .integer(Int64(height)),
      "timeBase": .string("\(timeBase.numerator)/\(timeBase.denominator)"),
    ])
  }

  /// Reads the form that `json` writes; `nil` for anything else.
  package init?(json: JSONValue) {
    guard case .integer(let track) = json["track"], case .string(let word) = json["format"],
      let format = PixelFormat(rawValue: word), case .integer(let width) = json["width"],
      case .integer(let height) = json["height"], case .string(let base) = json["timeBase"],
      (1...65_535).contains(width), (1...65_535).contains(height), track >= 0
    else { return nil }
    let parts = base.split(separator: "/").map { Int32($0) }
    guard parts.count == 2, let numerator = parts[0], let denominator = parts[1],
      numerator > 0, denominator > 0
    else { return nil }
    self.init(
      track: Int(track), timeBase: TimeBase(numerator, denominator), format: format,
      width: Int(width), height: Int(height))
  }
}
