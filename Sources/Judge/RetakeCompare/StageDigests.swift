package import RetakeCore

/// The entry of a digests file for one frame at one node: the first eight digits of its digest.
package enum StageCell: Hashable, Sendable {
  /// The frame did not reach the node; written as `-`.
  case notRun
  case value(UInt32)
  /// Digest of the failure's code; written with `!`.
  case failed(UInt32)

  /// The first 32 bits of a stage digest.
  package init(_ digest: Digest128) {
    self = .value(UInt32(truncatingIfNeeded: digest.high >> 32))
  }

  /// The first 32 bits of the digest of a failure's code.
  package init(failed code: Digest128) {
    self = .failed(UInt32(truncatingIfNeeded: code.high >> 32))
  }

  package var text: String {
    switch self {
    case .notRun: "-"
    case .value(let bits): Self.hex(bits)
    case .failed(let bits): "!" + Self.hex(bits)
    }
  }

  private static func hex(_ bits: UInt32) -> String {
    let digits = String(bits, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// The inverse of `text`; `nil` for any other form.
  package init?(parsing text: some StringProtocol) {
    if text == "-" {
      self = .notRun
      return
    }
    let isFailed = text.hasPrefix("!")
    let digits = isFailed ? text.dropFirst() : text[...]
    // `UInt32(_:radix:)` alone would accept a sign and upper case.
    let isHex = digits.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    guard digits.utf8.count == 8, isHex, let bits = UInt32(digits, radix: 16) else { return nil }
    self = isFailed ? .failed(bits) : .value(bits)
  }
}

/// A node of a digests file, in topological order: `motion*(gray)`.
package struct StageColumn: Hashable, Sendable, CustomStringConvertible {
  package var node: String
  package var isStateful: Bool
  /// Nodes of earlier columns. A source has none and depends on the packet.
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

/// One line of a digests file.
package struct StageRow: Hashable, Sendable {
  package var frame: FrameID
  /// The digest of the frame's packet; `-` if it has none.
  package var packet: StageCell
  /// One for each column.
  package var cells: [StageCell]

  package init(frame: FrameID, packet: StageCell, cells: [StageCell]) {
    self.frame = frame
    self.packet = packet
    self.cells = cells
  }
}
