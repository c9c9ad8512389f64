import Foundation
package import RetakeCore

/// The description of a trimmed session's origin, stored as the session's fact `trimmed`
/// (docs/formats/session.md, meta).
package struct TrimOrigin {
  package static let fact = "trimmed"

  /// The name of the original session.
  private let session: String
  private let digest: Digest128
  /// The span, in nanoseconds of the original.
  private let times: Range<Int64>

  package init(session: String, digest: Digest128, times: Range<Int64>) {
    (self.session, self.digest, self.times) = (session, digest, times)
  }

  package var text: String {
    JSONValue.object([
      "session": .string(session), "digest": .string("\(digest)"),
      "fromNanoseconds": .integer(times.lowerBound), "toNanoseconds": .integer(times.upperBound),
    ]).canonicalText
  }

  /// The name of the original session in the text of the fact; nil if it cannot be read.
  static func session(in text: String) -> String? {
    guard let json = try? JSONValue(parsing: Data(text.utf8)),
      case .string(let name) = json["session"]
    else { return nil }
    return name
  }
}
