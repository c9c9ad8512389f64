/// The points of the tracks in a GPX file: latitude, longitude, elevation and time.
///
/// It reads tags one after another, and knows no more of XML than GPX needs: no entities that a
/// file declares, and no external entities.
struct GPXRows: SensorRows {
  let channels = ["latitude", "longitude", "altitude"]
  private let file: String
  private var tags: GPXTags
  private var point: Point?

  private struct Point {
    var line: Int
    var latitude: Double
    var longitude: Double
    var altitude = Double.nan
    var time: Int64?
    /// How many tags inside the point are open.
    var depth = 0
  }

  let unit = SensorTimeUnit.date

  init(_ request: SensorRequest) throws {
    file = request.file
    tags = GPXTags(lines: try SensorLineReader(request.file), file: request.file)
  }

  mutating func next() throws -> SensorRow? {
    while let tag = try tags.next() {
      switch tag.name {
      case "trkpt": try begin(tag)
      case "/trkpt":
        defer { point = nil }
        guard let point else { throw bad("a point ends that did not begin") }
        guard point.depth == 0 else { throw bad("a point ends before its elements") }
        guard let time = point.time else { throw bad("a point has no time") }
        return SensorRow(
          line: point.line, time: time, values: [point.latitude, point.longitude, point.altitude])
      default: try take(tag)
      }
    }
    guard point == nil else { throw bad("the file ends inside a point") }
    return nil
  }

  /// A tag inside a point. A tag `time` inside an extension is not the point's time.
  private mutating func take(_ tag: GPXTags.Tag) throws {
    guard let depth = point?.depth, !tag.isClosed else { return }
    let isEnd = tag.name.hasPrefix("/")
    point?.depth = depth + (isEnd ? -1 : 1)
    guard depth == 0 else { return }
    switch tag.name {
    case "ele":
      let text = try tags.text()
      guard let altitude = SensorNumber.parseField(text) else {
        throw bad("'\(text.prefix(40))' is not an elevation")
      }
      point?.altitude = altitude
    case "time":
      let text = try tags.text()
      guard let time = SensorTime.date(text) else {
        throw bad("'\(text.prefix(40))' is not a date with a time")
      }
      point?.time = time
    default:
      if isEnd { throw bad("a tag ends that did not begin") }
    }
  }

  private mutating func begin(_ tag: GPXTags.Tag) throws {
    guard point == nil else { throw bad("a point begins inside another") }
    guard let latitude = tag.attributes["lat"].flatMap({ SensorNumber.parse($0) }),
      let longitude = tag.attributes["lon"].flatMap({ SensorNumber.parse($0) }),
      (-90...90).contains(latitude), (-180...180).contains(longitude)
    else { throw bad("a point has no latitude from -90 to 90 and longitude from -180 to 180") }
    guard !tag.isClosed else { throw bad("a point has no time") }
    point = Point(line: tags.line, latitude: latitude, longitude: longitude)
  }

  private func bad(_ problem: String) -> SensorError {
    .badPoint(file: file, line: tags.line, problem: problem)
  }
}

/// The tags of an XML file, and the text after each tag.
struct GPXTags {
  struct Tag {
    /// `trkpt` or `/trkpt`, without a namespace.
    var name: String
    var attributes: [String: String] = [:]
    /// `<trkpt/>`.
    var isClosed = false
  }

  private var lines: SensorLineReader
  private let file: String
  /// Bytes that were read and not yet used, without their line ends.
  private var rest: [UInt8] = []
  private var isEnd = false

  /// More than any tag or text of a track point needs.
  private static let bytesMax = 1 << 16

  init(lines: SensorLineReader, file: String) {
    (self.lines, self.file) = (lines, file)
  }

  var line: Int { max(1, lines.number) }

  /// The next tag; nil at the end. Declarations and comments are skipped.
  mutating func next() throws -> Tag? {
    while true {
      guard try skip(to: UInt8(ascii: "<")) else { return nil }
      let comment = Array("<!--".utf8)
      while rest.count < comment.count, try fill() {}
      guard !rest.starts(with: comment) else {
        try skipComment()
        continue
      }
      while !rest.contains(UInt8(ascii: ">")) {
        guard try fill() else { throw bad("the file ends inside a tag") }
        guard rest.count <= Self.bytesMax else { throw bad("a tag is longer than any of a track") }
      }
      let end = rest.firstIndex(of: UInt8(ascii: ">")) ?? 0
      let tag = String(decoding: rest[1..<end], as: UTF8.self)
      rest.removeFirst(end + 1)
      if tag.hasPrefix("?") || tag.hasPrefix("!") { continue }
      return Self.tag(tag)
    }
  }

  /// The text up to the next tag.
  mutating func text() throws -> String {
    while !rest.contains(UInt8(ascii: "<")) {
      guard try fill() else { throw bad("the file ends inside a tag") }
      guard rest.count <= Self.bytesMax else { throw bad("a text is longer than any of a track") }
    }
    let end = rest.firstIndex(of: UInt8(ascii: "<")) ?? 0
    return String(decoding: rest[..<end], as: UTF8.self).filter { !$0.isWhitespace || $0 == " " }
  }

  private static func tag(_ text: String) -> Tag {
    var text = text[...]
    let isClosed = text.last == "/"
    if isClosed { text = text.dropLast() }
    let name = text.prefix { !$0.isWhitespace }
    var tag = Tag(name: Self.local(name), isClosed: isClosed)
    text = text.dropFirst(name.count)
    // Ends: each round consumes a `=` and two quotes.
    while let equals = text.firstIndex(of: "=") {
      let key = text[..<equals].filter { !$0.isWhitespace }
      text = text[text.index(after: equals)...].drop { $0.isWhitespace }
      guard let quote = text.first, quote == "\"" || quote == "'" else { break }
      text = text.dropFirst()
      guard let end = text.firstIndex(of: quote) else { break }
      tag.attributes[key] = String(text[..<end])
      text = text[text.index(after: end)...]
    }
    return tag
  }

  private static func local(_ name: Substring) -> String {
    let isEnd = name.hasPrefix("/")
    let local = name.dropFirst(isEnd ? 1 : 0).split(separator: ":").last ?? ""
    return (isEnd ? "/" : "") + local
  }

  private mutating func skip(to byte: UInt8) throws -> Bool {
    while true {
      if let place = rest.firstIndex(of: byte) {
        rest.removeFirst(place)
        return true
      }
      rest.removeAll(keepingCapacity: true)
      guard try fill() else { return false }
    }
  }

  private mutating func skipComment() throws {
    let end = Array("-->".utf8)
    while true {
      if let place = rest.indices.first(where: { rest[$0...].starts(with: end) }) {
        rest.removeFirst(place + end.count)
        return
      }
      // Keeps bytes that may be the beginning of the end mark.
      rest.removeFirst(max(0, rest.count - end.count))
      guard try fill() else { throw bad("the file ends inside a comment") }
    }
  }

  private mutating func fill() throws -> Bool {
    guard !isEnd, let line = try lines.next() else {
      isEnd = true
      return false
    }
    rest += line
    rest.append(0x20)
    return true
  }

  private func bad(_ problem: String) -> SensorError {
    .badPoint(file: file, line: line, problem: problem)
  }
}
