/// The first line of each results file.
package struct ResultHeader: Hashable, Sendable {
  /// The version that is written, which is also the oldest version.
  package static let version = 1
  /// Frames in a results file.
  package static let chunkSize = 1_024
  /// Frames in a block, which ends with a B line.
  package static let blockSize = 64

  /// A sink, and how its numbers are rounded and ordered.
  package struct Sink: Hashable, Sendable {
    package var path: String
    package var precision: Precision
    /// Whether the detections' own order has a meaning, so that they are not sorted.
    package var orderIsSignificant: Bool

    package init(
      _ path: String, precision: Precision = .default, orderIsSignificant: Bool = false
    ) {
      self.path = path
      self.precision = precision
      self.orderIsSignificant = orderIsSignificant
    }
  }

  package struct Track: Hashable, Sendable {
    package var index: Int
    package var timeBase: TimeBase

    package init(_ index: Int, _ timeBase: TimeBase) {
      self.index = index
      self.timeBase = timeBase
    }
  }

  package var chunk = chunkSize
  /// `session/case`.
  package var key: String
  /// In rising order.
  package var tracks: [Track]
  /// Paths in rising order of their bytes.
  package var sinks: [String]
  /// Class names by class index, for each sink; empty for a sink without class names.
  package var classes: [[String]]
  /// Set if P, N or U lines occur: the only platform on which these results are valid.
  package var platform: String?

  /// Tracks and sinks may be in any order.
  package init(
    key: String, tracks: [Track], sinks: [String], classes: [String: [String]] = [:],
    platform: String? = nil
  ) {
    self.key = key
    self.tracks = tracks.sorted { $0.index < $1.index }
    // Part of the format: O lines and the classes follow this order in every file.
    self.sinks = sinks.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    self.classes = self.sinks.map { classes[$0] ?? [] }
    self.platform = platform
  }

  /// The line without its line end. If there are several sinks, each class is written `sink:class`.
  package var text: String {
    var buffer = TextBuffer(capacity: 256)
    buffer.append("#retake \(Self.version) chunk=\(chunk) key=")
    buffer.append(word: key)
    buffer.append(" tb=")
    buffer.append(tracks.map { "\($0.index):\($0.timeBase)" }.joined(separator: ","))
    buffer.append(" sinks=")
    buffer.append(list: sinks.map { ("", $0) })
    buffer.append(" classes=")
    buffer.append(
      list: zip(sinks, classes).flatMap { sink, names in
        names.map { (sinks.count == 1 ? "" : "\(sink):", $0) }
      })
    if let platform {
      buffer.append(" platform=")
      buffer.append(word: platform)
    }
    return buffer.text
  }

  /// Parses a header line.
  package init(parsing line: String, file: String) throws {
    // Fields are separated by one space, so two in a row are damage.
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count >= 2, words[0] == "#retake", let version = Int(words[1]) else {
      throw ResultTextError.header(file: file, line: String(line.prefix(80)))
    }
    // Version 1 is the first version. Once there is a second, this has to read both.
    guard version == Self.version else {
      throw ResultTextError.version(file: file, version: version)
    }
    guard let header = Self(fields: words.dropFirst(2)) else {
      throw ResultTextError.header(file: file, line: String(line.prefix(80)))
    }
    self = header
  }

  private init?(fields: ArraySlice<Substring>) {
    let names = ["chunk", "key", "tb", "sinks", "classes", "platform"]
    var values: [Substring] = []
    // The fields have a fixed order, so that equal headers have equal bytes.
    for (field, name) in zip(fields, names) {
      guard field.hasPrefix(name + "=") else { return nil }
      values.append(field.dropFirst(name.count + 1))
    }
    guard (5...6).contains(fields.count), let chunk = Int(values[0]), chunk > 0,
      let key = decodedWord(values[1]), let tracks = Self.tracks(values[2]),
      let sinks = Self.sinks(values[3]), let classes = Self.classes(values[4], of: sinks)
    else { return nil }
    if values.count > 5 {
      guard let platform = decodedWord(values[5]) else { return nil }
      self.platform = platform
    }
    self.chunk = chunk
    self.key = key
    self.tracks = tracks
    self.sinks = sinks
    self.classes = classes
  }

  private static func entries(_ list: Substring) -> [Substring] {
    list.isEmpty ? [] : list.split(separator: ",", omittingEmptySubsequences: false)
  }

  private static func sinks(_ text: Substring) -> [String]? {
    var sinks: [String] = []
    for entry in entries(text) {
      guard let sink = decodedWord(entry), !sinks.contains(sink) else { return nil }
      sinks.append(sink)
    }
    return sinks
  }

  private static func classes(_ text: Substring, of sinks: [String]) -> [[String]]? {
    var classes = sinks.map { _ in [String]() }
    for entry in entries(text) {
      var name = entry
      var sink = 0
      if sinks.count != 1 {
        guard let colon = entry.firstIndex(of: ":"),
          let index = sinks.firstIndex(of: String(entry[..<colon]))
        else { return nil }
        (sink, name) = (index, entry[entry.index(after: colon)...])
      }
      guard let word = decodedWord(name) else { return nil }
      classes[sink].append(word)
    }
    return classes
  }

  private static func tracks(_ text: Substring) -> [Track]? {
    var tracks: [Track] = []
    for entry in entries(text) {
      let parts = entry.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2, let index = Int(parts[0]), let base = TimeBase(parsing: parts[1]),
        tracks.last.map({ $0.index < index }) ?? true
      else { return nil }
      tracks.append(Track(index, base))
    }
    return tracks
  }
}

extension TextBuffer {
  /// Words with their prefixes, separated by commas.
  fileprivate mutating func append(list: [(prefix: String, word: String)]) {
    for (index, entry) in list.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      // The prefix is a sink's id, which has no character that would need an escape.
      append(entry.prefix)
      append(word: entry.word)
    }
  }
}

/// The inverse of `TextBuffer.append(word:)`; `nil` for strings that it does not write.
package func decodedWord(_ text: some StringProtocol) -> String? {
  if text == "%" { return "" }
  if text.isEmpty { return nil }
  if text.utf8.allSatisfy(TextBuffer.isPlain) { return String(text) }
  var bytes: [UInt8] = []
  var rest = text.utf8.makeIterator()
  while let byte = rest.next() {
    if byte == UInt8(ascii: "%") {
      guard let high = rest.next().flatMap(hexValue), let low = rest.next().flatMap(hexValue)
      else { return nil }
      // Each word has one form, so that equal words have equal bytes.
      guard !TextBuffer.isPlain(high << 4 | low) else { return nil }
      bytes.append(high << 4 | low)
    } else {
      guard TextBuffer.isPlain(byte) else { return nil }
      bytes.append(byte)
    }
  }
  return String(validating: bytes, as: UTF8.self)
}

private func hexValue(_ byte: UInt8) -> UInt8? {
  switch byte {
  case 0x30...0x39: byte - 0x30
  case 0x41...0x46: byte - 0x37
  default: nil
  }
}
