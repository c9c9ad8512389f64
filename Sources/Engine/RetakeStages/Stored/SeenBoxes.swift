import RetakeCore

/// The objects and boxes that a file has named, to find lines that are there twice.
struct SeenBoxes {
  private struct Name: Hashable {
    var sequence: Int
    var identity: Int?
    /// `nil` if the identity alone names the object.
    var detection: Detection?
  }

  private var names: Set<Name> = []

  /// The repetition, in words; `nil` for a new box.
  mutating func note(_ detection: Detection, sequence: Int) -> String? {
    let identity = detection.identity
    let name = Name(
      sequence: sequence, identity: identity, detection: identity == nil ? detection : nil)
    guard !names.insert(name).inserted else { return nil }
    return identity.map { "the identity \($0) is there twice in its frame" }
      ?? "the same box is there twice in its frame"
  }
}
