import Foundation
import RetakeCore
package import RetakeSession

/// `redaction.jsonl` of a redacted session.
package enum RedactionList {
  /// In the session's folder.
  static let name = "media/redaction.jsonl"
  /// Half a day of video with an object in each frame.
  private static let bytesMax: Int64 = 1 << 28

  /// The frames of a track in which an object may be visible, in ascending order; empty for a session
  /// without a list.
  ///
  /// - Throws: `session.redact.list` for a list that cannot be read.
  package static func uncertainFrames(of folder: SessionFolder, track: Int) throws -> [Int] {
    let path = try folder.file(name)
    let bytes: Data
    do {
      bytes = try RegularFile.contents(path, bytesMax: bytesMax)
    } catch RegularFile.Refusal.missing {
      return []
    } catch let refusal as RegularFile.Refusal {
      throw problem(path, refusal.description)
    }
    var frames: [Int] = []
    for (number, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
      guard let json = try? JSONValue(parsing: Data(line)),
        case .integer(let ownTrack) = json["track"],
        case .integer(let sequence) = json["sequence"],
        case .bool(let isUncertain) = json["uncertain"],
        let frame = Int(exactly: sequence), frame > frames.last ?? -1
      else { throw problem(path, "line \(number + 1) is not a frame of the list") }
      if isUncertain, ownTrack == track { frames.append(frame) }
    }
    return frames
  }

  private static func problem(_ path: String, _ cause: String) -> ErrorFacts {
    ErrorFacts(
      "session.redact.list", "the uncertain frames cannot be read", cause: cause, at: path,
      advice: "Find the damage: retake session check SESSION; or look at all frames")
  }
}
