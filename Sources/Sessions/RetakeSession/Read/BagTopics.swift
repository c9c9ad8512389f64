import Foundation
import RetakeCore
import RetakeStore

/// The topics of a bag that the tracks of a session were made of.
package enum BagTopics {
  /// The key in `meta`.
  package static let fact = "bag"

  /// By track.
  package static func names(_ stored: String?) -> [Int: String] {
    guard let stored, let fact = try? JSONValue(parsing: Data(stored.utf8)),
      case .array(let tracks)? = fact["tracks"]
    else { return [:] }
    var names: [Int: String] = [:]
    for track in tracks {
      guard case .integer(let number)? = track["track"], case .string(let topic)? = track["topic"]
      else { continue }
      names[Int(number)] = topic
    }
    return names
  }
}

extension SegmentTrackRecord {
  /// Without the tag and the bits that its decoder needs.
  var codecName: String { String(codec.prefix { $0 != "+" }) }
}
