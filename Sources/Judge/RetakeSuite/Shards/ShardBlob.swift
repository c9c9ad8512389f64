import Foundation
import RetakeCore
import RetakeReport
import RetakeSession

/// The results of one shard, as a file of JSON lines: a header with the digest of all other bytes,
/// facts of the run, the plan, and a line for each case.
struct ShardBlob {
  /// The largest file that is read.
  private static let bytesMax: Int64 = 2 << 30
  /// The header is shorter.
  private static let headerBytesMax = 1_024

  private struct Header: Codable {
    /// The version of the format.
    var blob = 1
    var tool = ReportTool(version: Tool.version)
    /// The number of bytes after the header, and their digest.
    var bytes: Int
    var digest: String
  }

  private struct Facts: Codable {
    /// The digest of the plan.
    var plan: String
    var shard: Int
    var seconds: Double
    var time: String
    var notes: [String]
    var goldens: String
    var program: String
  }

  var plan: ShardPlan
  /// The number of the shard: 1 for the first.
  var shard: Int
  var report: SuiteReport

  /// `2/4`.
  var name: String { "\(shard)/\(plan.shards)" }

  // MARK: - Writing

  /// Checks before a run that its blob can be written, and removes the blob of an earlier run: if
  /// this run fails, the file must not look like its result.
  ///
  /// - Throws: `suite.output.exists` for any other file, `SuiteError.notWritable`.
  static func prepare(_ path: String) throws {
    guard RegularFile.isTaken(path) else { return }
    guard let head = try? RegularFile.head(path, count: headerBytesMax), header(head) != nil else {
      throw SuiteError.exists(path: path)
    }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      throw SuiteError.notWritable(path: path, cause: error.systemText)
    }
  }

  /// - Throws: `SuiteError.notWritable`; then there is no file.
  func write(to path: String) throws {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    guard let file = PendingFile(for: path, ending: "") else {
      throw SuiteError.notWritable(path: path, cause: POSIXError.last.systemText)
    }
    do {
      try write(to: file)
    } catch {
      file.discard()
      throw SuiteError.notWritable(path: path, cause: error.systemText)
    }
  }

  /// Replaces the file of that name.
  func write(to file: PendingFile) throws {
    let body = try encoded()
    var header = try Self.encoder.encode(
      Header(bytes: body.count, digest: "\(Digest128(of: body))"))
    header.append(0x0A)
    try file.handle.write(contentsOf: header + body)
    try file.finish(replacing: true)
  }

  private func encoded() throws -> Data {
    let encoder = Self.encoder
    var body = try encoder.encode(
      Facts(
        plan: plan.digest, shard: shard, seconds: report.seconds, time: report.time,
        notes: report.notes, goldens: report.goldens, program: report.program))
    body.append(0x0A)
    body += try plan.encoded()
    for record in report.records {
      body += try encoder.encode(record)
      body.append(0x0A)
    }
    return body
  }

  private static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // As in report.json.
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return encoder
  }

  // MARK: - Reading

  init(plan: ShardPlan, shard: Int, report: SuiteReport) {
    (self.plan, self.shard, self.report) = (plan, shard, report)
  }

  /// - Parameter known: The plan of another blob. A plan of many cases is then decoded once.
  /// - Throws: `ShardError` for another kind of file, another version, or damage.
  init(reading file: String, known: ShardPlan? = nil) throws {
    let data: Data
    do {
      data = try RegularFile.contents(file, links: .followed, bytesMax: Self.bytesMax)
    } catch {
      throw ShardError.unreadable(blob: file, cause: "\(error)")
    }
    guard let header = Self.header(data.prefix(Self.headerBytesMax)),
      let end = data.firstIndex(of: 0x0A)
    else {
      let isPlan = (try? ShardPlan(parsing: data, named: file)) != nil
      throw isPlan ? ShardError.planWithoutStore(file) : ShardError.notBlob(file)
    }
    guard header.blob == 1 else { throw ShardError.newerBlob(file, version: header.blob) }
    guard header.tool.version == Tool.version else {
      throw ShardError.otherVersion(file: file, version: header.tool.version)
    }
    let body = data[(end + 1)...]
    guard body.count == header.bytes else {
      throw ShardError.damaged(file, cause: "it has \(body.count) of \(header.bytes) bytes")
    }
    guard "\(Digest128(of: body))" == header.digest else {
      throw ShardError.damaged(file, cause: "its digest differs")
    }
    do {
      try self.init(parsing: body, named: file, known)
    } catch let error as SuiteError {
      throw error
    } catch {
      throw ShardError.damaged(file, cause: error.causeText)
    }
  }

  private init(parsing body: Data, named file: String, _ known: ShardPlan?) throws {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    let lines = body.split(separator: 0x0A)
    guard lines.count >= 2 else { throw ShardError.damaged(file, cause: "it has no plan") }
    let facts = try decoder.decode(Facts.self, from: lines[0])
    if let known, known.digest == facts.plan {
      plan = known
    } else {
      plan = try decoder.decode(ShardPlan.self, from: lines[1])
      guard plan.isAsMade, plan.digest == facts.plan else {
        throw ShardError.damaged(file, cause: "its plan was changed after it was made")
      }
    }
    shard = facts.shard
    report = SuiteReport(
      records: try lines.dropFirst(2).map { try decoder.decode(CaseRecord.self, from: $0) },
      notes: facts.notes, goldens: facts.goldens, program: facts.program, seconds: facts.seconds,
      time: facts.time)
    guard report.records.map(\.item.title) == plan.items(of: shard).map(\.key),
      (1...plan.shards).contains(shard)
    else { throw ShardError.damaged(file, cause: "its cases are not the cases of its shard") }
  }

  private static func header(_ head: Data) -> Header? {
    head.firstIndex(of: 0x0A).flatMap {
      try? JSONDecoder().decode(Header.self, from: head[..<$0])
    }
  }
}
