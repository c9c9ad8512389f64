/// One rounded fact of one frame at one sink: one line of a results file.
package enum ResultLine: Hashable, Sendable {
  /// `D identity:class x y w h score`
  case detection(DetectionLine)
  /// `C n label=score`; n counts the D lines of this frame and sink from 0, `-` is the whole frame.
  case classification(detection: Int?, label: String, score: FixedDecimal)
  /// `V name=value`
  case scalar(name: String, value: FixedDecimal)
  /// `P 640x480 I420 full bt709 DIGEST128`
  case picture(FramePrint)
  /// `N f32 1x3x8 DIGEST128`
  case tensor(type: String, shape: [Int], digest: Digest128)
  /// `W name rate n v…`
  case waveform(name: String, rate: FixedDecimal, samples: [FixedDecimal])
  /// `T name "JSON text"`
  case text(name: String, text: String)
  /// `U kind DIGEST128`
  case user(kind: String, digest: Digest128)
  /// `X fate reason node`: the frame did not reach this sink.
  case ended(FrameFate, node: String)

  /// The line as in a results file, without its line end.
  package var text: String {
    var buffer = TextBuffer(capacity: 128)
    buffer.append(self)
    return buffer.text(dropping: 1)
  }

  /// Whether the line's value is valid only on the platform that produced it.
  package var isPlatformBound: Bool {
    switch self {
    // Their digests cover exact bytes, which depend on the processor and the libraries.
    case .picture, .tensor, .user: true
    default: false
    }
  }
}

/// A rounded detection.
package struct DetectionLine: Hashable, Sendable {
  package var identity: Int?
  package var classIndex: Int
  package var x: FixedDecimal
  package var y: FixedDecimal
  package var width: FixedDecimal
  package var height: FixedDecimal
  package var score: FixedDecimal

  package init(_ detection: Detection, _ precision: Precision) {
    let decimals = precision.boxDecimals
    identity = detection.identity
    classIndex = detection.classIndex
    x = FixedDecimal(detection.box.x, decimals: decimals)
    y = FixedDecimal(detection.box.y, decimals: decimals)
    width = FixedDecimal(detection.box.width, decimals: decimals)
    height = FixedDecimal(detection.box.height, decimals: decimals)
    score = FixedDecimal(detection.score, decimals: precision.scoreDecimals)
  }

  init(
    identity: Int?, classIndex: Int, x: FixedDecimal, y: FixedDecimal, width: FixedDecimal,
    height: FixedDecimal, score: FixedDecimal
  ) {
    self.identity = identity
    self.classIndex = classIndex
    self.x = x
    self.y = y
    self.width = width
    self.height = height
    self.score = score
  }

  /// −1, 0 or 1 in the canonical order: class, identity (missing first), y, x, width, height,
  /// score.
  func order(against other: DetectionLine) -> Int {
    if classIndex != other.classIndex { return classIndex < other.classIndex ? -1 : 1 }
    if identity != other.identity {
      guard let identity else { return -1 }
      guard let theirs = other.identity else { return 1 }
      return identity < theirs ? -1 : 1
    }
    var order = y.order(against: other.y)
    if order == 0 { order = x.order(against: other.x) }
    if order == 0 { order = width.order(against: other.width) }
    if order == 0 { order = height.order(against: other.height) }
    if order == 0 { order = score.order(against: other.score) }
    return order
  }
}

/// All lines of one captured frame, as in a results file.
package struct ResultFrame: Hashable, Sendable {
  package struct Outcome: Hashable, Sendable {
    /// Index into the header's sinks.
    package var sink: Int
    package var lines: [ResultLine]

    package init(sink: Int, lines: [ResultLine]) {
      self.sink = sink
      self.lines = lines
    }

    /// How the frame ended before this sink; `nil` if it was delivered.
    package var ended: (fate: FrameFate, node: String)? {
      guard case .ended(let fate, let node)? = lines.first else { return nil }
      return (fate, node)
    }
  }

  package var id: FrameID
  /// In the track's time base; `nil` if the frame had none.
  package var pts: Int64?
  package var outcomes: [Outcome]

  package init(id: FrameID, pts: Int64?, outcomes: [Outcome]) {
    self.id = id
    self.pts = pts
    self.outcomes = outcomes
  }
}
