/// One decision of the time plane, in the form in which it is written, digested and compared:
/// `@ns node track:sequence[.item] kind key=value…`, keys in byte order.
public struct DecisionLine: Hashable, Sendable, CustomStringConvertible {
  /// Nanoseconds of virtual time.
  public var time: Int64
  /// The ID of the node that the decision is about, such as `motion`, or `people/classify` inside a
  /// forEach.
  public var node: String
  /// `nil` for a decision about a node, not about a frame; written as `-`.
  public var frame: FrameID?
  /// Index of an item inside a forEach; `nil` if the decision is about the frame.
  public var item: Int?
  /// Written as its raw value.
  public var kind: DecisionKind
  /// In the byte order of their keys, if they were not changed after initialization.
  public var details: [Detail]

  /// One `key=value` of the line; docs/decisions.md lists the keys of each kind.
  public struct Detail: Hashable, Sendable {
    /// Must not contain a space or `=`, which separate the parts of a line.
    public var key: String
    /// Must not contain a space. Numbers are decimal; times are in nanoseconds.
    public var value: String

    /// The strings are not checked.
    package init(_ key: String, _ value: String) {
      self.key = key
      self.value = value
    }
  }

  /// `details` may be in any order; they are stored sorted by the bytes of their keys.
  package init(
    time: Int64, node: String, frame: FrameID? = nil, item: Int? = nil, kind: DecisionKind,
    details: [Detail] = []
  ) {
    self.time = time
    self.node = node
    self.frame = frame
    self.item = item
    self.kind = kind
    // The line is digested, so its bytes must not depend on the order in which a caller lists
    // details.
    self.details = details.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }

  /// The line as the log contains it, without a line feed.
  public var description: String {
    var text = "@\(time) \(node) "
    if let frame { text += "\(frame.track):\(frame.sequence)" } else { text += "-" }
    if let item { text += ".\(item)" }
    text += " \(kind.rawValue)"
    for detail in details { text += " \(detail.key)=\(detail.value)" }
    return text
  }

  /// The value of the detail with this key, such as `line["reason"]`; `nil` if the line has no such
  /// detail.
  public subscript(key: String) -> String? { details.first { $0.key == key }?.value }

  /// Parses a line in the form that `description` writes; `nil` for any other form or kind.
  package init?(parsing line: some StringProtocol) {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count >= 4, words[0].first == "@", let time = Int64(words[0].dropFirst()),
      !words[1].isEmpty, let kind = DecisionKind(rawValue: String(words[3])),
      let subject = Subject(parsing: words[2])
    else { return nil }
    var details: [Detail] = []
    for word in words.dropFirst(4) {
      guard let equals = word.firstIndex(of: "="), equals != word.startIndex else { return nil }
      details.append(
        Detail(String(word[..<equals]), String(word[word.index(after: equals)...])))
    }
    self.init(
      time: time, node: String(words[1]), frame: subject.frame, item: subject.item,
      kind: kind, details: details)
  }

  private struct Subject {
    var frame: FrameID?
    var item: Int?

    init?(parsing word: some StringProtocol) {
      if word == "-" { return }
      let parts = word.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2, let track = Int(parts[0]) else { return nil }
      let rest = parts[1].split(separator: ".", omittingEmptySubsequences: false)
      guard (1...2).contains(rest.count), let sequence = Int(rest[0]) else { return nil }
      frame = FrameID(track: track, sequence: sequence)
      if rest.count == 2 {
        guard let item = Int(rest[1]) else { return nil }
        self.item = item
      }
    }
  }
}
