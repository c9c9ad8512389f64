/// One run of a live pipeline over the recorded frames.
package struct RunRecord: Hashable, Sendable {
  package var run: Int
  package var kind: String
  /// The pipeline document, as JSON.
  package var pipeline: String
  package var startedNanoseconds: Int64
  /// Further facts about the run, as a JSON object.
  package var json: String

  package init(
    run: Int, kind: String, pipeline: String, startedNanoseconds: Int64, json: String = "{}"
  ) {
    self.run = run
    self.kind = kind
    self.pipeline = pipeline
    self.startedNanoseconds = startedNanoseconds
    self.json = json
  }
}
