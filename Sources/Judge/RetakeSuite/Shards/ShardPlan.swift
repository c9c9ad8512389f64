package import Foundation
import RetakeCore
package import RetakeReport

/// Which shard tests which cases: the same plan for each machine that tests a part of a suite.
package struct ShardPlan: Hashable, Sendable, Codable {
  package static let shardsMax = 1_000
  /// The largest document that is read: 100,000 items have about 50 MB.
  private static let bytesMax: Int64 = 256 << 20
  /// The cases of a session stay together if they take at most this part of a shard. The next case of
  /// a session uses values of the previous case, and a machine then needs fewer sessions.
  private static let sessionShareMax = 0.15

  /// One case on one session, or a golden that no case produces.
  package struct Item: Hashable, Sendable, Codable {
    /// `session/case`.
    package var key: String
    /// The digest of the tracks that the case reads, and of the session's events.
    package var session: String?
    /// The digest of the pipeline.
    package var pipeline: String?
    /// The digests of all other files that decide about the case, by path: models, programs, stored
    /// detections, timings, device profiles, images and labels.
    package var files: [String: String] = [:]
    /// The digest of golden.yml, and of the goldens for other platforms.
    package var golden: String?
    package var frames = 0
    /// The predicted duration; absent if no durations are known.
    package var seconds: Double?
    /// Whether it is a stale golden, which is not replayed.
    package var stale: Bool?
    /// The number of its shard: 1 for the first.
    package var shard = 0

    package init(key: String) { self.key = key }

    /// Microseconds, or frames if no durations are known.
    fileprivate var weight: Int {
      if stale == true { return 0 }
      // At most 11 days, so that no sum of weights is too large for an integer.
      return max(1, seconds.map { Int(min(max(0, $0), 1e6) * 1e6) } ?? frames)
    }

    fileprivate var sessionName: Substring { key.prefix { $0 != "/" } }

    /// The first fact that another item does not have, in words.
    func difference(from other: Item) -> String {
      let file = Set(files.keys).union(other.files.keys).sorted()
        .first { files[$0] != other.files[$0] }
      let facts = [
        (session != other.session, "the session"),
        (pipeline != other.pipeline, "the pipeline"),
        (file != nil, "'\(file ?? "")'"),
        (golden != other.golden, "the golden"),
        (seconds != other.seconds, "the predicted time"),
      ]
      return facts.first { $0.0 }?.1 ?? "the number of frames"
    }

    /// The same facts as another item has, as far as both know them. An unknown fact is an error of
    /// the case, which its run reports.
    func agrees(with other: Item) -> Bool {
      func agree<Value: Equatable>(_ first: Value?, _ second: Value?) -> Bool {
        first == nil || second == nil || first == second
      }
      return agree(session, other.session) && golden == other.golden
        && agree(pipeline, other.pipeline)
        && (pipeline == nil || other.pipeline == nil || files == other.files)
    }
  }

  package private(set) var v = 1
  package private(set) var tool: ReportTool
  /// The digest of the program's file; absent if it cannot be read.
  package private(set) var build: String?
  /// The digest of retake.yml.
  package private(set) var project: String?
  /// The suite of `--suite`; absent for the default suite.
  package private(set) var suite: String?
  /// The number of shards.
  package private(set) var shards: Int
  /// In the order of the report.
  package private(set) var items: [Item]
  /// The digest of everything else in the plan.
  package private(set) var digest = ""

  /// Assigns each item to a shard: the longest first, each to the shard with the least to do.
  ///
  /// - Parameter shards: From 1 to `shardsMax`.
  package init(
    _ items: [Item], shards: Int, build: String? = nil, project: String? = nil,
    suite: String? = nil
  ) {
    precondition((1...Self.shardsMax).contains(shards), "the number of shards is out of range")
    (self.items, self.shards, self.build, self.project) = (items, shards, build, project)
    self.suite = suite
    tool = ReportTool(version: Tool.version)
    assign()
    digest = ownDigest
  }

  private mutating func assign() {
    var loads = Array(repeating: 0, count: shards)
    for unit in units() {
      // The first one of equal loads.
      let shard = loads.indices.min { (loads[$0], $0) < (loads[$1], $1) } ?? 0
      for index in unit {
        items[index].shard = shard + 1
        loads[shard] += items[index].weight
      }
    }
  }

  /// The indices of the items that one shard tests, the heaviest unit first; units of equal weight in
  /// the order of their names.
  private func units() -> [[Int]] {
    let weights = items.map(\.weight)
    let shareMax = Self.sessionShareMax * Double(weights.reduce(0, +)) / Double(shards)
    var places: [Substring: Int] = [:]
    var sessions: [[Int]] = []
    for index in items.indices {
      let name = items[index].sessionName
      if let place = places[name] {
        sessions[place].append(index)
      } else {
        places[name] = sessions.count
        sessions.append([index])
      }
    }
    let units = sessions.flatMap { session in
      Double(session.reduce(0) { $0 + weights[$1] }) <= shareMax ? [session] : session.map { [$0] }
    }.map { (weight: $0.reduce(0) { $0 + weights[$1] }, name: items[$0[0]].key, indices: $0) }
    return units.sorted { (-$0.weight, $0.name) < (-$1.weight, $1.name) }.map(\.indices)
  }

  /// The items of a shard, in the order of the report.
  package func items(of shard: Int) -> [Item] { items.filter { $0.shard == shard } }

  /// The predicted seconds of each shard, or its frames if no durations are known.
  package var loads: [Double] {
    var loads = Array(repeating: 0.0, count: shards)
    for item in items where item.stale != true {
      loads[item.shard - 1] += item.seconds ?? Double(item.frames)
    }
    return loads
  }

  /// Whether the plan has predicted seconds, and not only frames.
  package var hasSeconds: Bool { items.contains { $0.seconds != nil } }

  /// The plan as JSON: keys in the order of their bytes, one newline at the end.
  package func encoded() throws -> Data { try Self.encoder.encode(self) + [0x0A] }

  private static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }

  private var ownDigest: String {
    var plan = self
    plan.digest = ""
    // Encoding fails only for numbers that JSON does not have, and the planner makes finite numbers.
    return (try? Self.encoder.encode(plan)).map { "\(Digest128(of: $0))" } ?? ""
  }

  /// Whether a decoded plan is as a planner makes it: each case once, in one of the shards.
  var isAsMade: Bool {
    (1...Self.shardsMax).contains(shards)
      && !items.isEmpty && Set(items.map(\.key)).count == items.count
      && items.allSatisfy { (1...shards).contains($0.shard) } && digest == ownDigest
  }

  /// - Throws: `ShardError.badPlan`, `.otherVersion`.
  package init(reading file: String) throws {
    do {
      let data = try RegularFile.contents(file, links: .followed, bytesMax: Self.bytesMax)
      try self.init(parsing: data, named: file)
    } catch let error as RegularFile.Refusal {
      throw ShardError.badPlan(file: file, cause: "\(error)")
    }
  }

  init(parsing data: Data, named file: String) throws {
    struct Head: Decodable {
      var v: Int
      var tool: ReportTool
    }
    do {
      let head = try JSONDecoder().decode(Head.self, from: data)
      guard head.v == 1, head.tool.version == Tool.version else {
        throw ShardError.otherVersion(file: file, version: head.tool.version)
      }
      self = try JSONDecoder().decode(Self.self, from: data)
    } catch let error as SuiteError {
      throw error
    } catch {
      throw ShardError.badPlan(file: file, cause: "it is not a plan")
    }
    guard isAsMade else {
      throw ShardError.badPlan(file: file, cause: "it was changed after it was made")
    }
  }
}
