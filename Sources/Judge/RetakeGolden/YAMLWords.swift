package import RetakeCore
import Yams

extension WordPlace {
  /// The keys and plain or quoted strings of a YAML document that are written without escapes.
  ///
  /// - Throws: `DocumentProblem` for text that is not YAML, as `JSONValue(yaml:)` does.
  package static func places(inYAML text: String) throws -> [WordPlace] {
    // Refuses anchors and deep nesting before Yams composes the document.
    guard try JSONValue(yaml: text) != nil else { return [] }
    guard let root = try? Yams.compose(yaml: text) else { return [] }
    var walk = YAMLWalk(text)
    walk.node(root, at: [])
    return walk.places
  }
}

private struct YAMLWalk {
  private let bytes: [UInt8]
  /// The place of the first byte of each line.
  private let lines: [Int]
  private(set) var places: [WordPlace] = []

  init(_ text: String) {
    let bytes = Array(text.utf8)
    self.bytes = bytes
    lines = [0] + bytes.indices.filter { bytes[$0] == 0x0A }.map { $0 + 1 }
  }

  mutating func node(_ node: Node, at path: [String]) {
    switch node {
    case .scalar(let scalar): add(scalar, at: path, isKey: false)
    case .sequence(let items):
      for (index, item) in items.enumerated() { self.node(item, at: path + [String(index)]) }
    case .mapping(let entries):
      for (key, value) in entries {
        guard case .scalar(let name) = key else { continue }
        add(name, at: path + [name.string], isKey: true)
        self.node(value, at: path + [name.string])
      }
    case .alias: break
    }
  }

  private mutating func add(_ scalar: Node.Scalar, at path: [String], isKey: Bool) {
    guard let mark = scalar.mark, lines.indices.contains(mark.line - 1) else { return }
    let rest = bytes[lines[mark.line - 1]...]
    // Columns count Unicode scalars: every byte that does not continue one begins one.
    var column = 1
    var offset = rest.startIndex
    while offset < rest.endIndex {
      if rest[offset] & 0xC0 != 0x80 {
        if column == mark.column { break }
        column += 1
      }
      offset += 1
    }
    if offset < rest.endIndex, rest[offset] == 0x22 || rest[offset] == 0x27 { offset += 1 }
    // A string with escapes, or a string that is folded over lines, is not written as it is read.
    guard bytes[offset...].starts(with: scalar.string.utf8) else { return }
    places.append(
      WordPlace(path: path, isKey: isKey, text: scalar.string, line: mark.line, offset: offset))
  }
}
