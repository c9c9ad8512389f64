package struct NodeRecord: Hashable, Sendable {
  package var run: Int
  package var node: String
  package var kind: String
  package var version: String
  /// A JSON object, as a string.
  package var options: String

  package init(run: Int, node: String, kind: String, version: String, options: String = "{}") {
    self.run = run
    self.node = node
    self.kind = kind
    self.version = version
    self.options = options
  }
}
