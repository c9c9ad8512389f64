/// The tables of a live pipeline's decisions; each row belongs to a run.
extension Schema {
  private static let ofRun = "FOREIGN KEY (\"run\") REFERENCES run (\"run\")"

  /// The tables whose rows refer to a run.
  static let ofRuns = [node, span, externalEvent, decision, result]

  static let run = Table(
    name: "run", keyCount: 1,
    columns: [
      .init("run", "INTEGER NOT NULL CHECK (\"run\" >= 0)"),
      .init("kind", "TEXT NOT NULL CHECK (\"kind\" <> '')"),
      .init("pipeline", "TEXT NOT NULL"),
      .init("started_ns", "INTEGER NOT NULL"),
      .init("json", "TEXT NOT NULL"),
    ])

  static let node = Table(
    name: "node", keyCount: 2,
    columns: [
      .init("run", "INTEGER NOT NULL"),
      .init("node", "TEXT NOT NULL CHECK (\"node\" <> '')"),
      .init("kind", "TEXT NOT NULL"),
      .init("version", "TEXT NOT NULL"),
      .init("options", "TEXT NOT NULL"),
    ], references: [ofRun])

  static let span = Table(
    name: "span", keyCount: 5,
    columns: [
      .init("run", "INTEGER NOT NULL"),
      .init("node", "TEXT NOT NULL"),
      .init("track", "INTEGER NOT NULL"),
      .init("sequence", "INTEGER NOT NULL"),
      .init("item", "INTEGER NOT NULL CHECK (\"item\" >= -1)"),
      .init("ready_ns", "INTEGER NOT NULL"),
      .init("start_ns", "INTEGER NOT NULL"),
      .init("end_ns", "INTEGER NOT NULL CHECK (\"end_ns\" >= \"start_ns\")"),
      .init("cpu_ns", "INTEGER NOT NULL CHECK (\"cpu_ns\" >= 0)"),
      .init("executor", "TEXT NOT NULL"),
      .init("outcome", "TEXT NOT NULL"),
    ], references: [ofRun])

  static let externalEvent = Table(
    name: "external_event", keyCount: 2,
    columns: [
      .init("run", "INTEGER NOT NULL"),
      .init("ordinal", "INTEGER NOT NULL CHECK (\"ordinal\" >= 0)"),
      .init("time_ns", "INTEGER NOT NULL"),
      .init("kind", "TEXT NOT NULL CHECK (\"kind\" <> '')"),
      .init("json", "TEXT NOT NULL"),
    ], references: [ofRun])

  static let decision = Table(
    name: "decision", keyCount: 2,
    columns: [
      .init("run", "INTEGER NOT NULL"),
      .init("ordinal", "INTEGER NOT NULL CHECK (\"ordinal\" >= 0)"),
      .init("line", "TEXT NOT NULL"),
    ], references: [ofRun])

  static let result = Table(
    name: "result", keyCount: 2,
    columns: [
      .init("run", "INTEGER NOT NULL"),
      .init("ordinal", "INTEGER NOT NULL CHECK (\"ordinal\" >= 0)"),
      .init("sink", "TEXT NOT NULL"),
      .init("line", "TEXT NOT NULL"),
    ], references: [ofRun])
}
