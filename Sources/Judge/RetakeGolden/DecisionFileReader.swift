package import Foundation
package import RetakeCompare
package import RetakeCore

/// Reads decisions.gold line by line.
package final class DecisionFileReader {
  package enum Entry {
    case line(DecisionLine)
    case fold(DecisionFold)
  }

  let header: FileHeader
  /// Nanoseconds on the session's time line at which virtual time is zero.
  let origin: Int64
  /// Tracks with a digest of frames among the noted lines.
  private(set) var tracks: Set<Int> = []
  private let reader: TextLineReader

  package init(_ url: URL) throws {
    reader = try TextLineReader(url)
    header = try FileHeader(reader, field: "origin")
    guard let origin = Int64(header.field) else {
      throw reader.damaged(Data(header.field.utf8), "a whole number of nanoseconds")
    }
    self.origin = origin
  }

  package func nextLine() throws -> Data? { try reader.next() }

  /// The number of the line that was read last, from 1.
  var lineNumber: Int { reader.number }

  func noteTrack(of line: Data) {
    guard line.first == UInt8(ascii: "="),
      let fold = DecisionFold(parsing: String(decoding: line, as: UTF8.self))
    else { return }
    tracks.insert(fold.track)
  }

  package func entry(_ line: Data) throws -> Entry {
    let text = String(decoding: line, as: UTF8.self)
    if text.hasPrefix("="), let fold = DecisionFold(parsing: text) { return .fold(fold) }
    // Compared with its own text, so that a line with an added space or zero is damage, not a
    // change.
    guard let decision = DecisionLine(parsing: text), decision.description == text else {
      throw reader.damaged(line, "'@ns node track:sequence kind …' or '= track f0..f1023 n=… …'")
    }
    return .line(decision)
  }
}
