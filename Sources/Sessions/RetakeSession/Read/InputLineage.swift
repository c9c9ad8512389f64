import Foundation
package import RetakeCore

/// The description of a replay copy's origin, stored as the session's fact `optimised`.
///
/// An exact copy also maps its own input digests to the input digests of the original, so that
/// goldens of the original apply to the copy. A mapped digest is valid only while the copy's own
/// digest is the same as when the copy was made.
package struct InputLineage: Hashable {
  package struct Input: Hashable {
    /// In ascending order.
    let tracks: [Int]
    let original: Digest128
    let copy: Digest128

    package init(tracks: [Int], original: Digest128, copy: Digest128) {
      (self.tracks, self.original, self.copy) = (tracks, original, copy)
    }
  }

  package static let fact = "optimised"

  private let session: String
  private let digest: Digest128
  private let codec: String
  private let isExact: Bool
  private let inputs: [Input]

  /// - Parameter inputs: Empty unless the copy is exact.
  package init(
    session: String, digest: Digest128, codec: String, isExact: Bool, inputs: [Input]
  ) {
    (self.session, self.digest, self.codec) = (session, digest, codec)
    (self.isExact, self.inputs) = (isExact, inputs)
  }

  /// The selections of tracks that a case may read. With many tracks, only each alone and all
  /// together.
  package static func choices(of tracks: [Int]) -> [[Int]] {
    // Every subset would be 2^tracks digests, each over all frames of an input.
    guard tracks.count <= tracksMax else { return tracks.map { [$0] } + [tracks] }
    return (1..<(1 << tracks.count)).map { bits in
      tracks.indices.filter { bits & (1 << $0) != 0 }.map { tracks[$0] }
    }
  }

  private static let tracksMax = 4

  package var text: String {
    JSONValue.object([
      "session": .string(session), "digest": .string("\(digest)"), "codec": .string(codec),
      "exact": .bool(isExact),
      "inputs": .array(
        inputs.map {
          .object([
            "tracks": .array($0.tracks.map { .integer(Int64($0)) }),
            "original": .string("\($0.original)"), "copy": .string("\($0.copy)"),
          ])
        }),
    ]).canonicalText
  }

  /// The original's digest of an input whose digest here is `copy`; nil if there is no valid
  /// mapping.
  static func original(of copy: Digest128, tracks: [Int], in text: String) -> Digest128? {
    guard let json = try? JSONValue(parsing: Data(text.utf8)), json["exact"] == .bool(true),
      case .array(let inputs) = json["inputs"]
    else { return nil }
    // Stored selections are in ascending order.
    let wanted = JSONValue.array(tracks.sorted().map { .integer(Int64($0)) })
    let found = inputs.first {
      $0["tracks"] == wanted && $0["copy"] == .string("\(copy)")
    }
    guard case .string(let digest) = found?["original"] else { return nil }
    return Digest128(hex: digest)
  }
}

extension SessionReader {
  /// The digest of these tracks as stored here, and of all events.
  package func storedDigest(tracks: [Int]) throws -> Digest128 {
    try requireWholeRows()
    for track in tracks { try index.requireTrack(track) }
    return try index.store.digest(tracks: tracks)
  }

  /// The digest of the inputs of a case: these tracks, and all events. An exact replay copy has the
  /// digest of its original.
  package func inputDigest(tracks: [Int]) throws -> Digest128 {
    let own = try storedDigest(tracks: tracks)
    let lineage = try index.store.meta(InputLineage.fact)
    return lineage.flatMap { InputLineage.original(of: own, tracks: tracks, in: $0) } ?? own
  }
}
