/// An event of the device, or a command of the user.
package struct EventRecord: Hashable, Sendable {
  package var ordinal: Int
  package var timeNanoseconds: Int64
  package var track: Int?
  package var source: String
  package var kind: String
  /// A JSON object, as a string.
  package var json: String

  package init(
    ordinal: Int, timeNanoseconds: Int64, track: Int? = nil, source: String, kind: String,
    json: String = "{}"
  ) {
    self.ordinal = ordinal
    self.timeNanoseconds = timeNanoseconds
    self.track = track
    self.source = source
    self.kind = kind
    self.json = json
  }
}
