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
  /// `M identity label score 640x480 COUNTS`, `K identity label score bones name=x,y,score …`,
  /// `L identity label score closed x,y …`, `I identity label score 640x480x1 f32 DIGEST128`,
  /// `E identity label score BASE64`, `J identity label score JSON`
  case observation(ObservationLine)
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
    case .observation(let line): line.letter == "I"
    default: false
    }
  }
}
