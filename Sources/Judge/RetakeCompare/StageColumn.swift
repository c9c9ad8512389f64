/// A node of a digests file, in topological order: `motion*(gray)`.
package struct StageColumn: Hashable, Sendable, CustomStringConvertible {
  package var node: String
  package var isStateful: Bool
  /// Nodes of earlier columns. Empty for a source, which depends on the packet.
  package var inputs: [String]

  package init(_ node: String, isStateful: Bool = false, inputs: [String] = []) {
    self.node = node
    self.isStateful = isStateful
    self.inputs = inputs
  }

  package var description: String {
    node + (isStateful ? "*" : "") + (inputs.isEmpty ? "" : "(\(inputs.joined(separator: ",")))")
  }

  /// The inverse of `description`; `nil` for any other form.
  package init?(parsing text: some StringProtocol) {
    var rest = Substring(text)
    if rest.hasSuffix(")") {
      guard let open = rest.firstIndex(of: "(") else { return nil }
      inputs = rest[rest.index(after: open)..<rest.index(before: rest.endIndex)]
        .split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      rest = rest[..<open]
      guard !inputs.contains("") else { return nil }
    } else {
      inputs = []
    }
    isStateful = rest.hasSuffix("*")
    node = String(isStateful ? rest.dropLast() : rest)
    guard !node.isEmpty, !node.contains(where: { "()*, ".contains($0) }) else { return nil }
  }
}
