import CYaml
import RetakeCore

/// A first pass over a YAML document, which builds no nodes.
///
/// Yams replaces each alias by the node that its anchor names, and compares all keys of a mapping.
/// A few hundred bytes of nested aliases therefore become a key with billions of nodes. For this
/// reason, the parser's events are checked first, with bounds on everything.
struct YAMLOutline {
  /// The most bytes of a document.
  static let bytesMax = 4 << 20
  /// The deepest nesting of a document.
  static let depthMax = 16
  /// The most scalars, lists and objects.
  static let nodesMax = 500_000

  /// An open object or list.
  private enum Level {
    /// With the key whose value comes next; `nil` if a key comes next.
    case object(key: String?)
    /// With the index of the next item.
    case list(next: Int)
  }

  private var nodes = 0
  private var levels: [Level] = []

  /// - Throws: `DocumentProblem` for anchors and aliases, for keys that are not strings, and for a
  ///   document that is too large or nested too deeply. Input that is not YAML passes this check,
  ///   because Yams describes that error well.
  static func check(_ text: String) throws {
    let bytes = Array(text.utf8)
    guard bytes.count <= bytesMax else {
      throw DocumentProblem(
        .tooLarge("the document has \(bytes.count) bytes; at most \(bytesMax) are read"), at: "")
    }
    var outline = YAMLOutline()
    var problem: DocumentProblem?
    // SAFETY: the parser reads the bytes only within the closure, and is deleted at its end. Each
    // event is deleted before the next one is made.
    bytes.withUnsafeBufferPointer { buffer in
      var parser = yaml_parser_t()
      guard yaml_parser_initialize(&parser) == 1 else { return }
      defer { yaml_parser_delete(&parser) }
      yaml_parser_set_input_string(&parser, buffer.baseAddress, buffer.count)
      // Ends: each event consumes bytes of the input, and the end of the input is an event.
      while problem == nil {
        var event = yaml_event_t()
        // A syntax error: Yams finds it again, and describes it.
        guard yaml_parser_parse(&parser, &event) == 1 else { return }
        defer { yaml_event_delete(&event) }
        guard event.type != YAML_STREAM_END_EVENT else { return }
        problem = outline.problem(of: event)
      }
    }
    if let problem { throw problem }
  }

  private mutating func problem(of event: yaml_event_t) -> DocumentProblem? {
    let line = Int(event.start_mark.line) + 1
    switch event.type {
    case YAML_ALIAS_EVENT: return alias(line)
    case YAML_SCALAR_EVENT:
      if event.data.scalar.anchor != nil { return alias(line) }
      return count(line) ?? take(event.data.scalar.value.map { String(cString: $0) } ?? "")
    case YAML_SEQUENCE_START_EVENT:
      if event.data.sequence_start.anchor != nil { return alias(line) }
      return open(.list(next: 0), line)
    case YAML_MAPPING_START_EVENT:
      if event.data.mapping_start.anchor != nil { return alias(line) }
      return open(.object(key: nil), line)
    case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
      _ = levels.popLast()
      ended()
      return nil
    default: return nil
    }
  }

  private mutating func open(_ level: Level, _ line: Int) -> DocumentProblem? {
    if let problem = count(line) { return problem }
    // An object or list in the place of a key. Yams would compare all of it with the other keys,
    // which this pass prevents.
    if case .object(key: nil)? = levels.last {
      return problem("a key is not a string", line)
    }
    guard levels.count <= Self.depthMax else { return problem("nests too deeply", line) }
    levels.append(level)
    return nil
  }

  /// A string or a number: a key, or a value.
  private mutating func take(_ text: String) -> DocumentProblem? {
    if case .object(key: nil)? = levels.last {
      levels[levels.count - 1] = .object(key: text)
    } else {
      ended()
    }
    return nil
  }

  /// Records that a value has ended.
  private mutating func ended() {
    switch levels.last {
    case .object?: levels[levels.count - 1] = .object(key: nil)
    case .list(let next)?: levels[levels.count - 1] = .list(next: next + 1)
    case nil: return
    }
  }

  private mutating func count(_ line: Int) -> DocumentProblem? {
    nodes += 1
    guard nodes > Self.nodesMax else { return nil }
    return problem("the document has more than \(Self.nodesMax) values", line)
  }

  private func alias(_ line: Int) -> DocumentProblem {
    problem(
      "anchors and aliases are not read", line, advice: "Write the value out in each place")
  }

  private func problem(_ detail: String, _ line: Int, advice: String? = nil) -> DocumentProblem {
    let pointer = levels.map { level in
      switch level {
      case .object(let key): key.map { "/\($0.shortened.pointerEscaped)" } ?? ""
      case .list(let next): "/\(next)"
      }
    }
    return DocumentProblem(
      .malformed("\(detail), in line \(line)", advice: advice), at: pointer.joined())
  }
}
