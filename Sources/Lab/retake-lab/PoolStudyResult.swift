import RetakeCore

/// The result of a study, for people and as JSON.
struct PoolStudyResult: Sendable {
  var text: String
  var json: JSONValue
}
