import RetakeCore

/// Reads the results files of a golden or of a run.
struct GoldenResults {
  /// The sink whose detections are read; empty if there is one.
  let sink: String

  /// - Parameter files: The bytes of the results files in their order, each with its name.
  func content(_ files: [(name: String, bytes: [UInt8])]) throws -> StoredContent {
    var content = StoredContent()
    (content.isOfRun, content.unit) = (true, .frame)
    var first: ResultHeader?
    for file in files {
      let chunk = try ResultChunk(file.bytes, file: file.name)
      guard first?.key ?? chunk.header.key == chunk.header.key,
        first?.sinks ?? chunk.header.sinks == chunk.header.sinks
      else { throw StoredError.otherRun(file.name) }
      first = chunk.header
      let index = try index(in: chunk.header, file.name)
      // A class that is found later is not in earlier headers.
      content.classNames = chunk.header.classes[index]
      for block in chunk.blocks {
        for frame in try chunk.frames(of: block) {
          guard let outcome = frame.outcomes.first(where: { $0.sink == index }) else { continue }
          let stored = try self.frame(outcome, frame.id, file.name)
          guard content.frames.updateValue(stored, forKey: frame.id) == nil else {
            throw StoredError.otherRun(file.name)
          }
        }
      }
    }
    return content
  }

  private func index(in header: ResultHeader, _ file: String) throws -> Int {
    let index = sink.isEmpty && header.sinks.count == 1 ? 0 : header.sinks.firstIndex(of: sink)
    guard let index else { throw StoredError.sink(file, sink, known: header.sinks) }
    return index
  }

  private func frame(
    _ outcome: ResultFrame.Outcome, _ id: FrameID, _ file: String
  ) throws -> StoredFrame {
    var frame = StoredFrame()
    if let ended = outcome.ended {
      frame.ended = "\(ended.fate.word) \(ended.node) \(ended.fate.reason)"
    }
    for line in outcome.lines {
      switch line {
      case .detection(let line):
        let item = Detection(line)
        if let problem = item.problem {
          throw StoredError.frames(
            file, "frame \(id): \(problem)", advice: "Name results with finite boxes")
        }
        frame.items.append(item)
      case .classification(let index?, let label, let score):
        guard frame.items.indices.contains(index), score.value.isFinite else {
          throw StoredError.frames(
            file, "frame \(id): a label has no box or no finite score",
            advice: "Write the results again")
        }
        frame.items[index].classes.append(Classification(label: label, score: score.value))
      default: break
      }
    }
    return frame
  }
}

extension Detection {
  fileprivate init(_ line: DetectionLine) {
    self.init(
      box: Box(
        x: line.x.value, y: line.y.value, width: line.width.value, height: line.height.value),
      score: line.score.value, classIndex: line.classIndex, identity: line.identity)
  }
}
