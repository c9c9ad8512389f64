import Foundation
package import RetakeBuffers

/// The colors of a session's tracks beyond range and matrix: the fact `colours` of `meta`, a JSON
/// object of `ColorLabels` by the track's number. The session's digest does not cover the fact, so
/// sessions from before the fact keep their digest.
package struct ColorFacts: Hashable, Sendable {
  package static let fact = "colours"

  private var tracks: [Int: ColorLabels] = [:]

  package init(_ tracks: [(track: Int, color: ColorLabels)] = []) {
    for (track, color) in tracks { self[track] = color }
  }

  package subscript(_ track: Int) -> ColorLabels {
    get { tracks[track] ?? ColorLabels() }
    set { tracks[track] = newValue.isEmpty ? nil : newValue }
  }

  /// nil if no track says anything: then the fact is not stored.
  package var stored: String? {
    let encoder = JSONEncoder()
    // The order of a Dictionary differs from run to run, and the fact is in the digest of the rows.
    encoder.outputFormatting = [.sortedKeys]
    let named = Dictionary(uniqueKeysWithValues: tracks.map { ("\($0.key)", $0.value) })
    guard !tracks.isEmpty, let data = try? encoder.encode(named) else { return nil }
    return String(decoding: data, as: UTF8.self)
  }

  /// - Parameter text: As stored; the colors are unknown if it is nil or damaged.
  package init(stored text: String?) {
    let named = text.flatMap {
      try? JSONDecoder().decode([String: ColorLabels].self, from: Data($0.utf8))
    }
    for (name, color) in named ?? [:] {
      if let track = Int(name) { self[track] = color }
    }
  }
}
