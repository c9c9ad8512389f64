import Foundation

/// The tracks whose images a viewer mirrors left to right before it rotates them: the fact
/// `mirrored` of `meta`, a JSON array of their numbers. It is not in the session's digest.
package struct MirroredTracks: Hashable, Sendable {
  package static let fact = "mirrored"

  private let tracks: [Int]

  package init(_ tracks: [Int]) {
    self.tracks = tracks.sorted()
  }

  package func contains(_ track: Int) -> Bool { tracks.contains(track) }

  /// nil without such tracks: then the fact is not stored.
  package var stored: String? {
    guard !tracks.isEmpty, let data = try? JSONEncoder().encode(tracks) else { return nil }
    return String(decoding: data, as: UTF8.self)
  }

  /// - Parameter text: As stored; no track is mirrored if it is nil or damaged.
  package init(stored text: String?) {
    self.init(text.flatMap { try? JSONDecoder().decode([Int].self, from: Data($0.utf8)) } ?? [])
  }
}
