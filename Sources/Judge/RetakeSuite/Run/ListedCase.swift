import RetakeGolden

/// A case as `retake test --list` names it, so that other test runners can run each by itself.
package struct ListedCase: Hashable, Sendable, Encodable {
  /// `session/case`, which selects it.
  package var key: String
  package var session: String
  /// The name of the case: written as `case`.
  package var name: String
  /// `nil` for a stale golden, whose case is not known.
  package var pipeline: String?
  package var mode: String?
  /// The folder of the session; `nil` for a stale golden, and for a case with frames of its
  /// own.
  package var folder: String?
  /// Whether there is only a golden, which no case produces any more.
  package var stale: Bool

  private enum CodingKeys: String, CodingKey {
    case key, session, name = "case", pipeline, mode, folder, stale
  }

  init(_ selected: SelectedCase) {
    self.init(stale: selected.key)
    pipeline = selected.definition.pipeline
    mode = selected.definition.mode.rawValue
    folder = selected.sessionRead
    stale = false
  }

  init(stale key: GoldenLibrary.Key) {
    self.key = key.description
    session = key.session
    name = key.testCase
    stale = true
  }
}
