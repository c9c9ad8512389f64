import Foundation

/// The places of all tracks of a session, stored as its fact `times`.
package struct TimePlaces: Hashable, Sendable, Codable {
  /// At most `placesMax`, in the order of tracks and frames.
  package private(set) var places: [TimePlace] = []
  /// The total number of places.
  private(set) var count = 0

  package static let fact = "times"
  /// A broken file may have any number of places, but a reader needs only the first places.
  static let placesMax = 200

  package init(_ places: [TimePlace] = []) {
    for place in places { append(place) }
  }

  mutating func append(_ place: TimePlace) {
    count += 1
    if places.count < Self.placesMax { places.append(place) }
  }

  /// nil without places: then the fact is not stored.
  package var stored: String? {
    let encoder = JSONEncoder()
    // The encoder's own order of keys may differ from run to run, and the
    // fact is in the digest of the rows.
    encoder.outputFormatting = [.sortedKeys]
    guard count > 0, let data = try? encoder.encode(self) else { return nil }
    return String(decoding: data, as: UTF8.self)
  }

  package init?(stored text: String) {
    guard let places = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else {
      return nil
    }
    self = places
  }
}
