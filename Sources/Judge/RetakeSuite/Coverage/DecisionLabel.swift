import RetakeCore

/// A branch of a decision at a node, in the words of decision lines: `drop reason=queue`.
struct DecisionLabel: Hashable, Sendable {
  var node: String
  var text: String

  init(_ node: String, _ text: String) {
    (self.node, self.text) = (node, text)
  }

  /// Codes of failures that have branches of their own.
  static let emptyPool = "fail code=pool.empty"
  static let timeoutCode = "timeout"

  /// The branches that a line shows. Empty for a line that only repeats another one, and for the
  /// lines of a route, whose branches follow from all lines of a frame.
  static func labels(of line: DecisionLine) -> [DecisionLabel] {
    texts(of: line).map { DecisionLabel(line.node, $0) }
  }

  private static func texts(of line: DecisionLine) -> [String] {
    let kind = line.kind.rawValue
    func detail(_ key: String) -> String { "\(kind) \(key)=\(line[key] ?? "-")" }
    switch line.kind {
    // decisions.gold has the first five in digests only; a swap follows its preparation.
    case .start, .done, .deliver, .block, .unblock, .outcome, .swapPrepare: return []
    case .lost, .wait, .drop: return [detail("reason")]
    case .fail, .itemFail:
      // The line `timeout` comes before it.
      return line["code"] == timeoutCode ? [] : [detail("code")]
    case .halt, .swapRefused: return [detail("code")]
    case .thermal: return [detail("state")]
    case .throttle: return [detail("interval")]
    case .thin: return line["port"] == nil ? [kind] : []
    case .fanout: return ["fanout items\(line["items"] == "0" ? "=" : ">")0"]
    case .join:
      if let parts = line["parts"] { return ["join parts=\(parts)"] }
      return ["join failed\(line["failed"] == "0" ? "=" : ">")0"]
    case .latest:
      return line.details.map { "latest \($0.key)\($0.value == "-" ? "=-" : "")" }
    case .resize: return ["resize pool=\(line["pool"] ?? "-") reason=\(line["reason"] ?? "-")"]
    case .breaker: return [detail("pool")]
    case .vsync:
      return ["vsync"] + ["repeats", "unseen"].filter { line[$0] != "0" }.map { "vsync \($0)>0" }
    case .waited, .supersede, .timeout, .late, .fallback, .swap, .stuck: return [kind]
    }
  }
}
