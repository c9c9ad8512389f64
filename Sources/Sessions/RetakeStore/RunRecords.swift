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

/// A file of the session's folder whose digest the database stores.
package struct FileRecord: Hashable, Sendable {
  /// Relative to the session's folder, with forward slashes.
  package var path: String
  /// `media`: the imported file.
  package var role: String
  /// 32 bytes.
  package var sha256: [UInt8]

  package init(path: String, role: String, sha256: [UInt8]) {
    precondition(sha256.count == 32, "a SHA-256 is 32 bytes")
    self.path = path
    self.role = role
    self.sha256 = sha256
  }
}

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

package struct NodeRecord: Hashable, Sendable {
  package var run: Int
  package var node: String
  package var kind: String
  package var version: String
  /// A JSON object, as a string.
  package var options: String

  package init(run: Int, node: String, kind: String, version: String, options: String = "{}") {
    self.run = run
    self.node = node
    self.kind = kind
    self.version = version
    self.options = options
  }
}

/// The duration of a stage for one frame or item: a line of the timings.
package struct SpanRecord: Hashable, Sendable {
  package var run: Int
  package var node: String
  package var track: Int
  package var sequence: Int
  /// −1 for the whole frame.
  package var item: Int
  package var readyNanoseconds: Int64
  package var startNanoseconds: Int64
  package var endNanoseconds: Int64
  /// Processor time of the thread.
  package var cpuNanoseconds: Int64
  package var executor: String
  package var outcome: String

  package init(
    run: Int, node: String, track: Int, sequence: Int, item: Int = -1, readyNanoseconds: Int64,
    startNanoseconds: Int64, endNanoseconds: Int64, cpuNanoseconds: Int64, executor: String,
    outcome: String
  ) {
    self.run = run
    self.node = node
    self.track = track
    self.sequence = sequence
    self.item = item
    self.readyNanoseconds = readyNanoseconds
    self.startNanoseconds = startNanoseconds
    self.endNanoseconds = endNanoseconds
    self.cpuNanoseconds = cpuNanoseconds
    self.executor = executor
    self.outcome = outcome
  }
}

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

package struct DecisionRecord: Hashable, Sendable {
  package var run: Int
  package var ordinal: Int
  package var line: String

  package init(run: Int, ordinal: Int, line: String) {
    self.run = run
    self.ordinal = ordinal
    self.line = line
  }
}

package struct ResultRecord: Hashable, Sendable {
  package var run: Int
  package var ordinal: Int
  package var sink: String
  package var line: String

  package init(run: Int, ordinal: Int, sink: String, line: String) {
    self.run = run
    self.ordinal = ordinal
    self.sink = sink
    self.line = line
  }
}
