import RetakeBuffers
import RetakeCore
import RetakeGraph

/// Numbers objects from frame to frame by the best overlap: a minimal tracker.
struct Numbers: StatefulStage {
  static let kind = "numbers"
  private var last: [Detection] = []
  private var next = 1

  init() {}
  init(options: NoOptions) {}

  mutating func process(_ input: Detections, _ context: StageContext) -> Detections {
    var found = input
    var free = last
    for index in found.items.indices {
      let box = found.items[index].box
      let best = free.indices.max { overlap(free[$0].box, box) < overlap(free[$1].box, box) }
      if let best, overlap(free[best].box, box) > 0.3 {
        found.items[index].identity = free.remove(at: best).identity
      } else {
        found.items[index].identity = next
        next += 1
      }
    }
    last = found.items
    return found
  }

  private func overlap(_ left: Box, _ right: Box) -> Double {
    let width = min(left.x + left.width, right.x + right.width) - max(left.x, right.x)
    let height = min(left.y + left.height, right.y + right.height) - max(left.y, right.y)
    guard width > 0, height > 0 else { return 0 }
    return width * height / (left.area + right.area - width * height)
  }

  mutating func reset() { self = Numbers() }
}

/// The mean of the last `length` values.
struct Smooth: StatefulStage {
  static let kind = "smooth"
  var length = 4
  private var past: [Scalars] = []

  init(length: Int) { self.length = length }
  init(options: NoOptions) {}

  mutating func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    past = (past + [input]).suffix(length)
    return Scalars(
      input.entries.map { entry in
        .init(entry.name, past.reduce(0) { $0 + ($1[entry.name] ?? 0) } / Double(past.count))
      })
  }

  mutating func reset() { past = [] }
}

/// Delays every value by a number of frames.
struct Late: StatefulStage {
  static let kind = "late"
  var frames = 0
  private var waiting: [Scalars] = []

  init(frames: Int) { self.frames = frames }
  init(options: NoOptions) {}

  mutating func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    waiting.append(input)
    return waiting.count > frames ? waiting.removeFirst() : waiting[0]
  }

  mutating func reset() { waiting = [] }
}

/// The last red levels as a waveform. It begins filled with the first level.
struct Window: StatefulStage {
  static let kind = "window"
  var length = 32
  private var past: [Double] = []

  init(length: Int) { self.length = length }
  init(options: NoOptions) {}

  mutating func process(_ input: Scalars, _ context: StageContext) -> Waveform {
    let red = input["red"] ?? 0
    if past.isEmpty { past = Array(repeating: red, count: length) }
    past = Array((past + [red]).suffix(length))
    return Waveform(name: "red", rate: 30, samples: past)
  }

  mutating func reset() { past = [] }
}

/// Passes frames on, or fails at some.
struct Guard: PureStage {
  static let kind = "guard"
  var failsAt: Int?

  init(failsAt: Int?) { self.failsAt = failsAt }
  init(options: NoOptions) {}

  func process(_ input: Detections, _ context: StageContext) throws -> Detections {
    if context.frame.sequence == failsAt {
      throw StageError(code: "guard.refused", message: "refused")
    }
    return input
  }
}

/// The result of a number plate reader.
struct Plate: PipelineValue {
  static var valueKind: ValueKind { .user(name: "plate", version: 1) }

  var text: String
  var facts: [ResultFact] { [.text(name: "plate", text: text)] }

  func digest(into hasher: inout DigestHasher) { hasher.append(text) }
}

extension Frame {
  /// A copy with some bytes of the first plane changed.
  func changing(_ change: (inout [UInt8]) -> Void) -> Frame {
    var planes = (0..<format.planeCount).map { plane in
      var bytes: [UInt8] = []
      forEachRow(of: plane) { bytes += Array($0) }
      return bytes
    }
    change(&planes[0])
    var frame = Frame(
      id: id, timestamp: timestamp, format: format, width: width, height: height, range: range,
      planes: planes)
    frame.matrix = matrix
    return frame
  }
}
