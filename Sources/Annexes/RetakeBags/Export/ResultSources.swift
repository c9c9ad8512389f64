import Foundation
import RetakeCore
import RetakeSession
import RetakeStore

/// A message that waits to be written.
struct WaitingMessage {
  var time: Int64
  var channel: Int
  var text: String
}

/// Messages of JSON, a page at a time.
class JSONSource: ExportSource {
  let clock: ExportClock
  private var page: ArraySlice<WaitingMessage> = []
  private var last = Int64.min

  init(clock: ExportClock) { self.clock = clock }

  /// The next messages; empty at the end.
  func load() throws -> [WaitingMessage] { [] }

  func begin() throws { page = try load()[...] }

  /// Never earlier than the previous message: lines of a live run are in the order in which frames
  /// ended.
  var nextTime: Int64? { page.first.map { max(last, $0.time) } }

  func write(to writer: MCAPWriter) throws {
    guard let time = nextTime, let message = page.popFirst() else { return }
    last = time
    try writer.add(
      Array(message.text.utf8), channel: message.channel, time: clock.logTime(time))
    if page.isEmpty { page = try load()[...] }
  }
}

/// Results and boxes of one sink on their topics.
struct ResultTopics {
  let results: Int
  let annotations: Int
  let clock: ExportClock

  init(_ prefix: String, sink: String, clock: ExportClock, writer: MCAPWriter) {
    results = writer.add(
      topic: "\(prefix)/\(sink)", encoding: "json", type: "retake.Result",
      schemaEncoding: "jsonschema", schema: ExportSchemas.json("retake.Result"))
    annotations = writer.add(
      topic: "\(prefix)/\(sink)/annotations", encoding: "json", type: "foxglove.ImageAnnotations",
      schemaEncoding: "jsonschema", schema: ExportSchemas.json("foxglove.ImageAnnotations"))
    self.clock = clock
  }

  /// - Parameters:
  ///   - time: Virtual time of the message.
  ///   - stamp: The presentation time of the frame; a viewer finds the image by this time.
  ///   - result: The sink's object as in a result line.
  func messages(_ result: JSONValue, id: FrameID, time: Int64, stamp: Int64) -> [WaitingMessage] {
    let message = JSONValue.object([
      "timestamp": clock.json(stamp), "track": .integer(Int64(id.track)),
      "sequence": .integer(Int64(id.sequence)), "result": result,
    ])
    let boxes = annotations(result, stamp: stamp)
    return [
      WaitingMessage(time: time, channel: results, text: message.canonicalText),
      WaitingMessage(time: time, channel: annotations, text: boxes.canonicalText),
    ]
  }

  /// The boxes, lines, points and outlines of masks of a result, in Foxglove's form. A frame without
  /// them removes earlier shapes.
  private func annotations(_ result: JSONValue, stamp: Int64) -> JSONValue {
    var (points, texts): ([JSONValue], [JSONValue]) = ([], [])
    func add(_ type: Int64, _ places: [(x: Double, y: Double)], name: JSONValue? = nil) {
      guard let first = places.first, places.allSatisfy(Self.isFinite) else { return }
      points.append(
        .object([
          "timestamp": clock.json(stamp), "type": .integer(type),
          "points": .array(places.map(Self.point)), "outline_color": Self.color,
          "outline_colors": .array([]), "fill_color": Self.clear, "thickness": .integer(2),
        ]))
      guard case .string(let name)? = name else { return }
      texts.append(
        .object([
          "timestamp": clock.json(stamp), "position": Self.point(first), "text": .string(name),
          "font_size": .integer(12), "text_color": Self.color, "background_color": Self.clear,
        ]))
    }
    for detection in Self.elements(result["detections"]) {
      let sides = Self.elements(detection["box"]).map(\.double)
      guard sides.count == 4 else { continue }
      let (x, y, width, height) = (sides[0], sides[1], sides[2], sides[3])
      let corners: [(x: Double, y: Double)] = [
        (x, y), (x + width, y), (x + width, y + height), (x, y + height),
      ]
      add(Self.lineLoop, corners, name: detection["class"])
    }
    for item in Self.elements(result["observations"]) {
      if let line = Self.line(item) {
        add(line.type, line.places, name: item["label"])
        continue
      }
      let shape = Self.shape(item)
      let places = shape.points.map { (x: $0.x, y: $0.y) }
      let lines = shape.bones.compactMap { bone -> [(x: Double, y: Double)]? in
        guard places.indices.contains(bone.from), places.indices.contains(bone.to) else {
          return nil
        }
        let line = [places[bone.from], places[bone.to]]
        return line.allSatisfy(Self.isFinite) ? line : nil
      }
      add(Self.lineList, lines.flatMap(\.self), name: item["label"])
      // The corners of an outline are no points of the object.
      guard item["mask"] == nil else { continue }
      add(
        Self.points, places.filter(Self.isFinite),
        name: lines.isEmpty ? item["label"] : nil)
    }
    return .object([
      "circles": .array([]), "points": .array(points), "texts": .array(texts),
    ])
  }

  /// A polyline or a polygon with Foxglove's number of its kind; `nil` for any other observation.
  private static func line(_ item: JSONValue) -> (type: Int64, places: [(x: Double, y: Double)])? {
    guard let vertices = item["polygon"] ?? item["polyline"] else { return nil }
    let places = elements(vertices).map { vertex in
      let numbers = elements(vertex).map(\.double)
      return (x: numbers.first ?? .nan, y: numbers.last ?? .nan)
    }
    return (item["polygon"] == nil ? lineStrip : lineLoop, places)
  }

  /// The outline of a mask, or points with their bones; empty for any other observation.
  private static func shape(_ item: JSONValue) -> KeyPoints {
    if let mask = item["mask"] {
      guard case .integer(let height)? = elements(mask["size"]).first,
        case .integer(let width)? = elements(mask["size"]).last,
        case .string(let counts)? = mask["counts"],
        let mask = Mask(width: Int(width), height: Int(height), counts: counts)
      else { return KeyPoints([]) }
      return mask.outline
    }
    var shape = KeyPoints(
      elements(item["points"]).map {
        KeyPoint("", x: $0["x"]?.double ?? .nan, y: $0["y"]?.double ?? .nan)
      })
    for bone in elements(item["bones"]) {
      guard case .integer(let from)? = elements(bone).first,
        case .integer(let to)? = elements(bone).last
      else { continue }
      shape.bones.append(KeyPoints.Bone(Int(from), Int(to)))
    }
    return shape
  }

  private static func isFinite(_ place: (x: Double, y: Double)) -> Bool {
    place.x.isFinite && place.y.isFinite
  }

  private static func elements(_ value: JSONValue?) -> [JSONValue] {
    guard case .array(let elements)? = value else { return [] }
    return elements
  }

  // The numbers of foxglove.PointsAnnotation. A list has separate lines.
  private static let (points, lineLoop): (Int64, Int64) = (1, 2)
  private static let (lineStrip, lineList): (Int64, Int64) = (3, 4)
  private static let color = rgba(0, 1, 0.4, 1)
  private static let clear = rgba(0, 0, 0, 0)

  private static func rgba(_ r: Double, _ g: Double, _ b: Double, _ a: Double) -> JSONValue {
    .object(["r": .number(r), "g": .number(g), "b": .number(b), "a": .number(a)])
  }

  private static func point(_ place: (x: Double, y: Double)) -> JSONValue {
    .object(["x": .number(place.x), "y": .number(place.y)])
  }
}

extension JSONValue {
  /// NaN for a value that is not a number.
  fileprivate var double: Double {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: .nan
    }
  }
}

/// Decision lines as messages of foxglove.Log.
struct DecisionTopic {
  let channel: Int
  let clock: ExportClock

  init(_ prefix: String, clock: ExportClock, writer: MCAPWriter) {
    channel = writer.add(
      topic: "\(prefix)/decisions", encoding: "json", type: "foxglove.Log",
      schemaEncoding: "jsonschema", schema: ExportSchemas.json("foxglove.Log"))
    self.clock = clock
  }

  /// - Parameter origin: Nanoseconds on the session's time line at which virtual time is zero.
  func message(_ text: String, origin: Int64) -> WaitingMessage? {
    guard let line = DecisionLine(parsing: text) else { return nil }
    let (time, overflow) = line.time.addingReportingOverflow(origin)
    guard !overflow else { return nil }
    let log = JSONValue.object([
      "timestamp": clock.json(time), "level": .integer(Self.level(line.kind)),
      "message": .string(text), "name": .string(line.node), "file": .string(""),
      "line": .integer(0),
    ])
    return WaitingMessage(time: time, channel: channel, text: log.canonicalText)
  }

  /// Foxglove's levels: 1 debug, 2 info, 3 warning, 4 error (foxglove.Log).
  private static func level(_ kind: DecisionKind) -> Int64 {
    switch kind {
    case .fail, .itemFail, .halt, .stuck: 4
    case .drop, .lost, .supersede, .timeout, .late, .breaker, .swapRefused: 3
    case .start, .done, .deliver, .block, .unblock: 1
    default: 2
    }
  }
}

/// Results, or decisions, of a live run that the session has.
final class LiveRunSource: JSONSource {
  private let reader: SessionReader
  private let run: Int
  private var results: [String: ResultTopics]?
  private var decisions: DecisionTopic?
  private var next = 0

  private static let pageRows = 1_024

  static func all(
    _ reader: SessionReader, run wanted: Int?, clock: ExportClock, writer: MCAPWriter
  ) throws -> [any ExportSource] {
    let runs = try reader.index.store.runs()
    guard let run = wanted ?? runs.last?.run else { return [] }
    guard runs.contains(where: { $0.run == run }) else {
      throw SessionError.noLiveRun(session: reader.folder.path, known: runs.map(\.run))
    }
    let sinks = try sinks(reader, run)
    let results = LiveRunSource(reader, run: run, clock: clock)
    results.results = Dictionary(
      uniqueKeysWithValues: sinks.map {
        ($0, ResultTopics("/live", sink: $0, clock: clock, writer: writer))
      })
    let decisions = LiveRunSource(reader, run: run, clock: clock)
    decisions.decisions = DecisionTopic("/live", clock: clock, writer: writer)
    for source in [results, decisions] { try source.begin() }
    return [results, decisions]
  }

  /// Sorted by their bytes, so that topics have the same numbers each time.
  private static func sinks(_ reader: SessionReader, _ run: Int) throws -> [String] {
    var (names, next) = (Set<String>(), 0)
    while true {
      let page = try reader.index.store.results(run: run, from: next, count: pageRows)
      guard let last = page.last else { return names.sorted() }
      names.formUnion(page.map(\.sink))
      next = last.ordinal + 1
    }
  }

  private init(_ reader: SessionReader, run: Int, clock: ExportClock) {
    (self.reader, self.run) = (reader, run)
    super.init(clock: clock)
  }

  override func load() throws -> [WaitingMessage] {
    // A page may have only lines that are left out.
    while true {
      let (found, isEnd) = try results == nil ? nextDecisions() : nextResults()
      if isEnd || !found.isEmpty { return found }
    }
  }

  private func nextDecisions() throws -> ([WaitingMessage], isEnd: Bool) {
    let rows = try reader.index.store.decisions(run: run, from: next, count: Self.pageRows)
    next = rows.last.map { $0.ordinal + 1 } ?? next
    return (rows.compactMap { decisions?.message($0.line, origin: 0) }, rows.isEmpty)
  }

  private func nextResults() throws -> ([WaitingMessage], isEnd: Bool) {
    let rows = try reader.index.store.results(run: run, from: next, count: Self.pageRows)
    next = rows.last.map { $0.ordinal + 1 } ?? next
    return (try rows.flatMap(messages), rows.isEmpty)
  }

  private func messages(_ row: ResultRecord) throws -> [WaitingMessage] {
    guard let line = try? JSONValue(parsing: Data(row.line.utf8)),
      let result = line["sinks"]?[row.sink], let topics = results?[row.sink],
      case .integer(let track)? = line["track"], case .integer(let sequence)? = line["sequence"],
      case .integer(let arrival)? = line["timeNanoseconds"]
    else { return [] }
    let id = FrameID(track: Int(track), sequence: Int(sequence))
    let frame = try reader.index.frame(id)
    // Known when it is delivered.
    let age: Double =
      switch result["ageMilliseconds"] {
      case .integer(let value): Double(value)
      case .number(let value): value
      default: 0
      }
    let time = arrival.addingReportingOverflow(Int64((age * 1e6).rounded()))
    return topics.messages(
      result, id: id, time: time.overflow ? arrival : time.partialValue,
      stamp: frame?.ptsNanoseconds ?? arrival)
  }
}
