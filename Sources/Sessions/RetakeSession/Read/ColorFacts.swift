import Foundation
package import RetakeBuffers

/// What a session keeps of the colors of its tracks beyond range and matrix: the fact `colors` of
/// `meta`, a JSON object of `ColorLabels` by the track's number. Nothing of it is in the session's
/// digest, so sessions from before the fact keep theirs.
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

  /// - Parameter text: As stored; nothing is known if it is nil or damaged.
  package init(stored text: String?) {
    let named = text.flatMap {
      try? JSONDecoder().decode([String: ColorLabels].self, from: Data($0.utf8))
    }
    for (name, color) in named ?? [:] {
      if let track = Int(name) { self[track] = color }
    }
  }
}
