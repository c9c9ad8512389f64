import Foundation
import RetakeCore

/// Reads JSON lines of Retake: the lines of `--follow`, of `--metadata`, and of a session's results.
struct ResultLineFile {
  let file: String
  /// The sink whose detections are read; empty if there is one.
  let sink: String

  private var sinks: Set<String> = []
  private var names: [Int: String] = [:]
  private var classMax = -1

  init(file: String, sink: String) { (self.file, self.sink) = (file, sink) }

  mutating func content(_ bytes: [UInt8]) throws -> StoredContent {
    var content = StoredContent()
    content.isOfRun = true
    var number = 0
    for line in bytes.split(separator: 0x0a, omittingEmptySubsequences: false) {
      number += 1
      guard !line.allSatisfy(\.isWhiteSpace) else { continue }
      let object: JSONValue
      do {
        object = try JSONValue(parsing: Data(line))
      } catch let error as DecodingError {
        throw StoredError.line(file, number, "not JSON: \(error.shortText.shortened)")
      }
      // The last line of a run.
      if object["summary"] != nil, object["sinks"] == nil { continue }
      guard case .object(let outcomes)? = object["sinks"] else {
        throw StoredError.line(file, number, "no 'sinks', so this is no result line")
      }
      let id = FrameID(
        track: try integer(object, "track", number),
        sequence: try integer(object, "sequence", number)
      )
      sinks.formUnion(outcomes.keys)
      guard let outcome = outcomes[sink.isEmpty ? outcomes.keys.min() ?? "" : sink] else {
        continue
      }
      let frame = try frame(outcome, number)
      guard content.frames.updateValue(frame, forKey: id) == nil else {
        throw StoredError.line(file, number, "the frame \(id) is there twice")
      }
    }
    guard sink.isEmpty ? sinks.count == 1 : sinks.contains(sink) else {
      throw StoredError.sink(file, sink, known: sinks.sorted())
    }
    // A class that no box has is not in the lines: it is named by its number.
    if !names.isEmpty { content.classNames = (0...classMax).map { names[$0] ?? "\($0)" } }
    return content
  }

  private mutating func frame(_ outcome: JSONValue, _ number: Int) throws -> StoredFrame {
    guard case .string(let fate)? = outcome["fate"] else {
      throw StoredError.line(file, number, "an outcome has no 'fate'")
    }
    var frame = StoredFrame(place: number)
    guard fate == "deliver" else {
      let words = ["node", "reason"].compactMap { key -> String? in
        if case .string(let text)? = outcome[key] { text } else { nil }
      }
      frame.ended = ([fate] + words).joined(separator: " ").shortened
      return frame
    }
    for entry in try array(outcome["detections"] ?? .array([]), "detections", number) {
      frame.append(try detection(entry, number), place: number)
    }
    return frame
  }

  private mutating func detection(_ entry: JSONValue, _ number: Int) throws -> Detection {
    let sides = try array(entry["box"], "box", number).map { try value($0, "box", number) }
    guard sides.count == 4 else {
      throw StoredError.line(file, number, "a box is [x, y, width, height]")
    }
    var detection = Detection(
      box: Box(x: sides[0], y: sides[1], width: sides[2], height: sides[3]),
      score: try value(entry["score"], "score", number),
      classIndex: try integer(entry, "classIndex", number))
    if let problem = detection.problem { throw StoredError.line(file, number, problem) }
    if let identity = entry["identity"], identity != .null {
      guard case .integer(let value) = identity else {
        throw StoredError.line(file, number, "'identity' must be an integer")
      }
      detection.identity = Int(value)
    }
    detection.classes = try array(entry["labels"] ?? .array([]), "labels", number).map {
      guard case .string(let label)? = $0["label"] else {
        throw StoredError.line(file, number, "a label has no 'label'")
      }
      return Classification(label: label, score: try value($0["score"], "score", number))
    }
    classMax = max(classMax, detection.classIndex)
    if case .string(let name)? = entry["class"] {
      guard names.updateValue(name, forKey: detection.classIndex) ?? name == name else {
        throw StoredError.line(
          file, number, "the class \(detection.classIndex) has another name in the lines before")
      }
    }
    return detection
  }

  // MARK: Values

  private func array(_ value: JSONValue?, _ key: String, _ number: Int) throws -> [JSONValue] {
    guard case .array(let elements)? = value else {
      throw StoredError.line(file, number, "'\(key)' must be an array")
    }
    return elements
  }

  private func integer(_ object: JSONValue, _ key: String, _ number: Int) throws -> Int {
    guard case .integer(let value)? = object[key], (0...Int64(Int32.max)).contains(value) else {
      throw StoredError.line(file, number, "'\(key)' must be an integer, 0 to \(Int32.max)")
    }
    return Int(value)
  }

  /// A number that was NaN or infinite is `null` in a line.
  private func value(_ value: JSONValue?, _ key: String, _ number: Int) throws -> Double {
    switch value {
    case .number(let value): return value
    case .integer(let value): return Double(value)
    default: throw StoredError.line(file, number, "'\(key)' must be a finite number")
    }
  }
}
