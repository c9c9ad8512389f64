import Foundation
import Testing

/// docs/architecture.md names the rules of decisions, and comments say which one the code carries
/// out.
@Suite struct RuleNameTests {
  /// The names that the page defines, in bold.
  private static func defined(in page: String) -> Set<String> {
    Set(page.matches(of: #/\*\*`([a-z-]+)`\*\*/#).map { String($0.1) })
  }

  /// The names that begin comments in bodies: `// queue-room, queue-block: …`.
  private static func named(in source: String) -> Set<String> {
    let comments = source.matches(of: #/// ((?:[a-z]+-[a-z-]+, )*[a-z]+-[a-z-]+): /#)
    return Set(comments.flatMap { $0.1.split(separator: ", ").map(String.init) })
  }

  @Test func `each rule is named where the code carries it out, and each name is a rule`() throws {
    let page = try String(
      contentsOf: Repository.url("docs/architecture.md"), encoding: .utf8)
    let files = try Repository.swiftFiles(in: ["Sources"])
    let rules = Self.defined(in: page)
    #expect(rules.count > 60)
    let unnamed = rules.filter { rule in
      !files.contains { file in
        file.text.contains(rule)
          && file.text.split(separator: "\n").contains { line in
            line.drop(while: \.isWhitespace).hasPrefix("// ") && line.contains(rule)
          }
      }
    }
    #expect(unnamed.sorted() == [])
    let named = files.reduce(into: Set<String>()) { $0.formUnion(Self.named(in: $1.text)) }
    #expect(named.subtracting(rules).sorted() == [])
  }

  @Test func `rules and names are read as they are written`() {
    #expect(
      Self.defined(in: "- **`queue-room`**: a\n**`tombstone`** and `other`")
        == ["queue-room", "tombstone"])
    #expect(
      Self.named(in: "  // queue-room, output-hold: why\n  let a = 1 // plain: text\n")
        == ["queue-room", "output-hold"])
  }
}
