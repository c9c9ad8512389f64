import Foundation
import RetakeCore
import RetakeSession

/// Results, or decisions, of a golden, or of the folder of a run (docs/formats/goldens.md).
///
/// A golden has no times of delivery, so a result has the time of its frame's arrival.
final class GoldenSource: JSONSource {
  private let reader: SessionReader
  private var files: ArraySlice<URL>
  private let prefix: String
  private var topics: [String: ResultTopics] = [:]
  private let decisions: DecisionTopic?
  private let writer: MCAPWriter

  private static let fileBytesMax: Int64 = 256 << 20

  /// - Parameter name: For its topics.
  /// - Throws: `BagError.nothingToExport` for a folder that is not a golden, or a golden of
  ///   another session.
  static func all(
    _ path: String, named name: String, reader: SessionReader, clock: ExportClock,
    writer: MCAPWriter
  ) throws -> [any ExportSource] {
    let folder = URL(fileURLWithPath: path)
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    let results = names.filter { $0.hasPrefix("results-") && $0.hasSuffix(".gold") }
    guard !results.isEmpty else {
      throw BagError.nothingToExport(
        session: reader.folder.path, cause: "'\(path)' has no results of a golden or of a run")
    }
    try requireSame(folder, reader)
    let isRun = names.contains("run.json")
    let prefix = (isRun ? "/actual/" : "/golden/") + name
    let source = GoldenSource(
      reader, files: results.map { folder.appending(path: $0) }, prefix: prefix, clock: clock,
      writer: writer)
    try source.begin()
    guard names.contains("decisions.gold") else { return [source] }
    let lines = GoldenSource(
      reader, files: [folder.appending(path: "decisions.gold")], prefix: prefix, clock: clock,
      writer: writer, hasDecisions: true)
    try lines.begin()
    return [source, lines]
  }

  private static func requireSame(_ folder: URL, _ reader: SessionReader) throws {
    let manifest = try? RegularFile.contents(
      folder.appending(path: "golden.yml").path, links: .followed, bytesMax: manifestBytesMax)
    // The line as Retake writes it: `input: {session: run, digest: 9572…, tracks: {camera: 0}, …}`.
    let line = manifest.flatMap {
      String(decoding: $0, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("input:") }
    }
    guard let line, let start = line.firstRange(of: "digest: ")?.upperBound else { return }
    let digest = line[start...].prefix { $0.isHexDigit }
    // A golden is of the tracks that its pipeline reads, which need not be all of the session's.
    let list = line.firstMatch(of: /tracks: \{([^}]*)\}/)?.1 ?? ""
    let tracks = list.matches(of: /: (\d+)/).compactMap { Int($0.1) }
    let own = try? reader.inputDigest(tracks: tracks.sorted())
    guard own.map({ "\($0)" != digest }) ?? true else { return }
    throw BagError.nothingToExport(
      session: reader.folder.path,
      cause: "'\(folder.path)' is of a session with other content: its digest is \(digest), and "
        + "the same tracks have \(own.map { "\($0)" } ?? "none") here")
  }

  private static let manifestBytesMax: Int64 = 1 << 20

  private init(
    _ reader: SessionReader, files: [URL], prefix: String, clock: ExportClock, writer: MCAPWriter,
    hasDecisions: Bool = false
  ) {
    (self.reader, self.files, self.prefix) = (reader, files[...], prefix)
    self.writer = writer
    decisions = hasDecisions ? DecisionTopic(prefix, clock: clock, writer: writer) : nil
    super.init(clock: clock)
  }

  override func load() throws -> [WaitingMessage] {
    while let file = files.popFirst() {
      let bytes: Data
      do {
        bytes = try RegularFile.contents(
          file.path, links: .followed, bytesMax: Self.fileBytesMax)
      } catch let error as RegularFile.Refusal {
        throw BagError.unreadable(path: file.path, cause: error.causeText)
      }
      let found = try decisions == nil ? results([UInt8](bytes), file) : lines(bytes, file)
      if !found.isEmpty { return found }
    }
    return []
  }

  private func lines(_ bytes: Data, _ file: URL) throws -> [WaitingMessage] {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    let origin = lines.first?.split(separator: " ").first { $0.hasPrefix("origin=") }
    guard let origin = origin.flatMap({ Int64($0.dropFirst("origin=".count)) }) else {
      throw BagError.unreadable(path: file.path, cause: "its first line has no origin")
    }
    // Lines with `=` are digests of lines that are not written.
    return lines.dropFirst().filter { $0.hasPrefix("@") }
      .compactMap { decisions?.message(String($0), origin: origin) }
  }

  private func results(_ bytes: [UInt8], _ file: URL) throws -> [WaitingMessage] {
    let chunk = try ResultChunk(bytes, file: file.path)
    var messages: [WaitingMessage] = []
    for block in chunk.blocks {
      for frame in try chunk.frames(of: block) {
        guard let row = try reader.index.frame(frame.id) else {
          throw BagError.nothingToExport(
            session: reader.folder.path,
            cause: "'\(prefix)' has the frame \(frame.id), which the session does not have")
        }
        for outcome in frame.outcomes {
          let sink = chunk.header.sinks[outcome.sink]
          let topics =
            self.topics[sink] ?? ResultTopics(prefix, sink: sink, clock: clock, writer: writer)
          self.topics[sink] = topics
          let result = Self.json(outcome, classes: chunk.header.classes[outcome.sink])
          messages += topics.messages(
            result, id: frame.id, time: row.arrivalNanoseconds, stamp: row.ptsNanoseconds)
        }
      }
    }
    return messages.enumerated().sorted {
      ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
    }
    .map(\.element)
  }

  /// An object in the form of a result line (docs/result-lines.md), with the members that a golden
  /// contains.
  private static func json(
    _ outcome: ResultFrame.Outcome, classes: [String]
  ) -> JSONValue {
    if let ended = outcome.ended {
      var members: [String: JSONValue] = [
        "fate": .string(ended.fate.word), "node": .string(ended.node),
      ]
      if ended.fate.reason != "-" { members["reason"] = .string(ended.fate.reason) }
      return .object(members)
    }
    var (detections, labels): ([[String: JSONValue]], [JSONValue]) = ([], [])
    var (scalars, texts, others): ([JSONValue], [JSONValue], [JSONValue]) = ([], [], [])
    var observations: [JSONValue] = []
    for line in outcome.lines {
      switch line {
      case .detection(let detection): detections.append(json(detection, classes: classes))
      case .classification(let place, let label, let score):
        let value = JSONValue.object(["label": .string(label), "score": .decimal(score)])
        if let place, detections.indices.contains(place) {
          guard case .array(let known)? = detections[place]["labels"] else {
            detections[place]["labels"] = .array([value])
            continue
          }
          detections[place]["labels"] = .array(known + [value])
        } else {
          labels.append(value)
        }
      case .scalar(let name, let value):
        scalars.append(.object(["name": .string(name), "value": .decimal(value)]))
      case .text(let name, let text):
        texts.append(.object(["name": .string(name), "text": .string(text)]))
      case .observation(let line): observations.append(json(line))
      default: others.append(.string(line.text))
      }
    }
    var members: [String: JSONValue] = ["fate": .string("deliver")]
    let groups = [
      ("detections", detections.map { .object($0) }), ("labels", labels), ("scalars", scalars),
      ("texts", texts), ("observations", observations), ("lines", others),
    ]
    for (key, values) in groups where !values.isEmpty { members[key] = .array(values) }
    return .object(members)
  }

  /// `null` for a text that is not JSON, which a damaged line may have.
  private static func json(_ line: ObservationLine) -> JSONValue {
    var text = TextBuffer(capacity: 256)
    text.append(json: line)
    return (try? JSONValue(parsing: Data(text.text.utf8))) ?? .null
  }

  private static func json(_ line: DetectionLine, classes: [String]) -> [String: JSONValue] {
    var members: [String: JSONValue] = [
      "box": .array([line.x, line.y, line.width, line.height].map { .decimal($0) }),
      "score": .decimal(line.score), "classIndex": .integer(Int64(line.classIndex)),
    ]
    if classes.indices.contains(line.classIndex) {
      members["class"] = .string(classes[line.classIndex])
    }
    if let identity = line.identity { members["identity"] = .integer(Int64(identity)) }
    return members
  }
}

extension JSONValue {
  /// `null` for NaN and the infinities, which JSON does not have.
  fileprivate static func decimal(_ value: FixedDecimal) -> JSONValue {
    value.value.isFinite ? .number(value.value) : .null
  }
}
