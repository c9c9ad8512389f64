import GRDB
import RetakeCore

extension EventRecord: StoredRow {
  static var table: Schema.Table { Schema.event }

  var values: [DatabaseValue] {
    RowBuilder.build {
      $0.add(ordinal)
      $0.add(timeNanoseconds)
      $0.add(track)
      $0.add(source)
      $0.add(kind)
      $0.add(json)
    }
  }

  init(_ row: inout RowReader) throws {
    self.init(
      ordinal: try row.count(), timeNanoseconds: try row.nanoseconds(), track: try row.countIfAny(),
      source: try row.text(), kind: try row.text(), json: try row.text())
  }
}

extension FileRecord: StoredRow {
  static var table: Schema.Table { Schema.file }

  var values: [DatabaseValue] {
    RowBuilder.build {
      $0.add(path)
      $0.add(role)
      $0.add(sha256)
    }
  }

  init(_ row: inout RowReader) throws {
    let (path, role, sha256) = (try row.text(), try row.text(), try row.blob())
    guard sha256.count == 32 else { throw RowDamage(table: "file", column: "sha256") }
    self.init(path: path, role: role, sha256: sha256)
  }
}

extension RunRecord: StoredRow {
  static var table: Schema.Table { Schema.run }

  var values: [DatabaseValue] {
    RowBuilder.build {
      $0.add(run)
      $0.add(kind)
      $0.add(pipeline)
      $0.add(startedNanoseconds)
      $0.add(json)
    }
  }

  init(_ row: inout RowReader) throws {
    self.init(
      run: try row.count(), kind: try row.text(), pipeline: try row.text(),
      startedNanoseconds: try row.nanoseconds(), json: try row.text())
  }
}

extension NodeRecord: StoredRow {
  static var table: Schema.Table { Schema.node }

  var values: [DatabaseValue] {
    RowBuilder.build {
      $0.add(run)
      $0.add(node)
      $0.add(kind)
      $0.add(version)
      $0.add(options)
    }
  }

  init(_ row: inout RowReader) throws {
    self.init(
      run: try row.count(), node: try row.text(), kind: try row.text(), version: try row.text(),
      options: try row.text())
  }
}

extension SpanRecord: StoredRow {
  static var table: Schema.Table { Schema.span }

  var values: [DatabaseValue] {
    RowBuilder.build {
      $0.add(run)
      $0.add(node)
      $0.add(track)
      $0.add(sequence)
      $0.add(item)
      $0.add(readyNanoseconds)
      $0.add(startNanoseconds)
      $0.add(endNanoseconds)
      $0.add(cpuNanoseconds)
      $0.add(executor)
      $0.add(outcome)
    }
  }

  init(_ row: inout RowReader) throws {
    self.init(
      run: try row.count(), node: try row.text(), track: try row.count(),
      sequence: try row.count(), item: try row.int(in: -1...RowReader.countMax),
      readyNanoseconds: try row.nanoseconds(), startNanoseconds: try row.nanoseconds(),
      endNanoseconds: try row.nanoseconds(), cpuNanoseconds: try row.nanoseconds(),
      executor: try row.text(), outcome: try row.text())
  }
}

extension ExternalEventRecord: StoredRow {
  static var table: Schema.Table { Schema.externalEvent }

  var values: [DatabaseValue] {
    RowBuilder.build {
      $0.add(run)
      $0.add(ordinal)
      $0.add(timeNanoseconds)
      $0.add(kind)
      $0.add(json)
    }
  }

  init(_ row: inout RowReader) throws {
    self.init(
      run: try row.count(), ordinal: try row.count(), timeNanoseconds: try row.nanoseconds(),
      kind: try row.text(), json: try row.text())
  }
}

extension DecisionRecord: StoredRow {
  static var table: Schema.Table { Schema.decision }

  var values: [DatabaseValue] {
    RowBuilder.build {
      $0.add(run)
      $0.add(ordinal)
      $0.add(line)
    }
  }

  init(_ row: inout RowReader) throws {
    self.init(run: try row.count(), ordinal: try row.count(), line: try row.text())
  }
}

extension ResultRecord: StoredRow {
  static var table: Schema.Table { Schema.result }

  var values: [DatabaseValue] {
    RowBuilder.build {
      $0.add(run)
      $0.add(ordinal)
      $0.add(sink)
      $0.add(line)
    }
  }

  init(_ row: inout RowReader) throws {
    self.init(
      run: try row.count(), ordinal: try row.count(), sink: try row.text(), line: try row.text())
  }
}
