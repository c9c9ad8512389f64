/// An input of the live decision core, in the order in which it was received.
package struct ExternalEventRecord: Hashable, Sendable {
  package var run: Int
  package var ordinal: Int
  package var timeNanoseconds: Int64
  package var kind: String
  /// A JSON object, as a string.
  package var json: String

  package init(
    run: Int, ordinal: Int, timeNanoseconds: Int64, kind: String, json: String = "{}"
  ) {
    self.run = run
    self.ordinal = ordinal
    self.timeNanoseconds = timeNanoseconds
    self.kind = kind
    self.json = json
  }
}
