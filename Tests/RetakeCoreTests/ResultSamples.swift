import RetakeTestSupport

@testable import RetakeCore

/// Frames for the tests of results text.
enum ResultSamples {
  static let header = ResultHeader(
    key: "yard/motion", tracks: [.init(0, TimeBase(1, 30_000))], sinks: ["boxes"],
    classes: ["boxes": ["motion"]])

  static func writer(_ header: ResultHeader = header) -> ResultWriter {
    ResultWriter(header: header, sinks: header.sinks.map { .init($0) })
  }

  static func delivered(
    _ sequence: Int, track: Int = 0, pts: Int64? = nil, sink: String = "boxes",
    _ facts: [ResultFact] = []
  ) -> FrameResult {
    FrameResult(
      id: FrameID(track: track, sequence: sequence), pts: pts ?? Int64(sequence) * 1_001,
      outcomes: [SinkOutcome(sink: sink, content: .facts(facts))])
  }

  static func box(
    _ x: Double, _ y: Double, _ width: Double = 32, _ height: Double = 48, score: Double = 0.5,
    classIndex: Int = 0, identity: Int? = nil, classes: [Classification] = []
  ) -> ResultFact {
    .detection(
      Detection(
        box: Box(x: x, y: y, width: width, height: height), score: score, classIndex: classIndex,
        identity: identity, classes: classes))
  }

  /// The frames as text: one file.
  static func text(_ frames: [FrameResult], header: ResultHeader = header) -> String {
    var writer = writer(header)
    for frame in frames { writer.append(frame) }
    return writer.finish().map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
  }

  /// The lines of one frame at one sink.
  static func lines(_ facts: [ResultFact]) -> [String] {
    text([delivered(0, facts)]).split(separator: "\n").map(String.init).dropFirst(2).dropLast()
  }

  static func chunk(_ text: String) throws -> ResultChunk {
    try ResultChunk(Array(text.utf8), file: "results-00000.gold")
  }

  static func frames(_ chunk: ResultChunk) throws -> [ResultFrame] {
    try chunk.blocks.flatMap { try chunk.frames(of: $0) }
  }

  /// A random frame: every kind of fact, hostile names, special numbers.
  static func random(_ sequence: Int, _ random: inout SeededGenerator) -> FrameResult {
    let names = ["plain", "two words", "50 %", "a=b,c", "größe", "", "\u{1f3a5}", "new\nline"]
    func number(_ random: inout SeededGenerator) -> Double {
      switch Int.random(in: 0..<12, using: &random) {
      case 0: .nan
      case 1: .infinity
      case 2: -.infinity
      case 3: -0.0
      case 4:
        Double(sign: .minus, exponent: Int.random(in: 0..<200, using: &random), significand: 1.7)
      default: Double.random(in: -2_000...2_000, using: &random)
      }
    }
    func name(_ random: inout SeededGenerator) -> String {
      names[Int.random(in: 0..<names.count, using: &random)]
    }
    func fact(_ random: inout SeededGenerator) -> ResultFact {
      let digest = Digest128(high: random.next(), low: random.next())
      switch Int.random(in: 0..<10, using: &random) {
      case 0: return .classification(Classification(label: name(&random), score: number(&random)))
      case 1: return .scalar(name: name(&random), value: number(&random))
      case 2:
        return .frame(
          FramePrint(
            width: 640, height: 480, format: "I420", range: "full", matrix: "bt709",
            digest: digest))
      case 3:
        return .tensor(type: "f32", shape: [[], [1, 3, 8], [0]][sequence % 3], digest: digest)
      case 4:
        return .waveform(
          Waveform(
            name: name(&random), rate: 29.97,
            samples: (0..<Int.random(in: 0..<5, using: &random)).map { _ in number(&random) }))
      case 5: return .text(name: name(&random), text: "\"\\ \t" + name(&random))
      case 6: return .user(kind: name(&random), digest: digest)
      default:
        let labels = (0..<Int.random(in: 0..<3, using: &random)).map { _ in
          Classification(label: name(&random), score: number(&random))
        }
        return box(
          number(&random), number(&random), number(&random), number(&random),
          score: number(&random), classIndex: Int.random(in: 0..<3, using: &random),
          identity: Bool.random(using: &random) ? Int.random(in: 0..<9, using: &random) : nil,
          classes: labels)
      }
    }
    let fates: [FrameFate] = [
      .dropped(.queue), .throttled(by: "throttle"), .replaced,
      .failed(code: "media.decode.damaged"),
      .inFlight,
    ]
    let content: SinkOutcome.Content =
      Int.random(in: 0..<5, using: &random) == 0
      ? .ended(fates[Int.random(in: 0..<fates.count, using: &random)], node: "motion")
      : .facts((0..<Int.random(in: 0..<6, using: &random)).map { _ in fact(&random) })
    return FrameResult(
      id: FrameID(track: 0, sequence: sequence), pts: sequence % 7 == 0 ? nil : Int64(sequence) - 5,
      outcomes: [SinkOutcome(sink: "boxes", content: content)])
  }
}
