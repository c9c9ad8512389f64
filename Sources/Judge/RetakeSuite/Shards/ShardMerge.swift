import Foundation
import RetakeCore
import RetakeReport

/// The blobs of all shards of one plan, and the report that a single run of all cases would write.
package struct ShardMerge {
  /// Everything that is wrong with the blobs; without any problem they can be merged.
  package private(set) var problems: [SuiteError] = []
  private(set) var blobs: [(file: String, blob: ShardBlob)] = []
  /// The plan whose cases have a blob each; `nil` if each shard has a blob.
  private var plan: ShardPlan?

  /// Reads the blobs, in any order.
  package init(_ files: [String]) {
    for file in files {
      do {
        add(try ShardBlob(reading: file, known: blobs.first?.blob.plan), file)
      } catch {
        problems.append(
          error as? SuiteError ?? ShardError.unreadable(blob: file, cause: error.causeText))
      }
    }
    addGaps()
    addOtherLibraries { shard in "retake test --shard \(shard) --blob FILE" }
  }

  /// Reads the results of a plan's cases.
  ///
  /// - Parameters:
  ///   - plan: The plan, and its name in messages.
  ///   - folder: The store, as an absolute path.
  package init(_ plan: (file: String, content: ShardPlan), store folder: String) {
    let store = ShardStore(folder: folder, plan: plan.content)
    self.plan = plan.content
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder),
      isFolder.boolValue
    else {
      problems = [ShardError.noStore(folder)]
      return
    }
    var missing: [Int: [String]] = [:]
    var refused: [Int: [SuiteError]] = [:]
    var picturesLeft = ReportBuilder.picturesMax
    for item in plan.content.items {
      do {
        if var blob = try store.blob(of: item) {
          // In the order of the report, which keeps only the first images of all cases.
          for index in blob.report.records.indices {
            picturesLeft -= blob.report.records[index].item.keepPictures(ofFrames: picturesLeft)
          }
          blobs.append((store.file(of: item), blob))
        } else {
          missing[item.shard, default: []].append(item.key)
        }
      } catch {
        let reason =
          error as? SuiteError
          ?? ShardError.unreadable(blob: store.file(of: item), cause: error.causeText)
        refused[item.shard, default: []].append(
          ShardError.badResult(item.key, shard: item.shard, plan: plan.file, reason: reason.facts))
      }
    }
    for shard in 1...plan.content.shards {
      problems += refused[shard] ?? []
      if let keys = missing[shard], let first = keys.first {
        problems.append(
          ShardError.unfinished(
            shard: "\(shard)/\(plan.content.shards)", cases: keys.count, first: first,
            plan: plan.file))
      }
    }
    addOtherLibraries { shard in
      ShardError.runAgain(plan: plan.file, index: "\(shard.prefix { $0 != "/" })")
    }
  }

  private mutating func add(_ blob: ShardBlob, _ file: String) {
    if let first = blobs.first, first.blob.plan.digest != blob.plan.digest {
      problems.append(
        ShardError.otherPlan(
          file, first: first.file, why: blob.plan.difference(from: first.blob.plan)))
    } else if let other = blobs.first(where: { $0.blob.shard == blob.shard }) {
      problems.append(ShardError.duplicate(file, first: other.file, shard: blob.name))
    } else {
      blobs.append((file, blob))
    }
  }

  private mutating func addGaps() {
    guard let plan = blobs.first?.blob.plan else { return }
    let present = Set(blobs.map(\.blob.shard))
    for shard in 1...plan.shards where !present.contains(shard) {
      let items = plan.items(of: shard)
      let name = "\(shard)/\(plan.shards)"
      problems.append(
        items.first.map { ShardError.gap(shard: name, cases: items.count, first: $0.key) }
          ?? ShardError.emptyGap(shard: name))
    }
  }

  /// Refuses results of two versions of a library: a single run has one version of each.
  ///
  /// - Parameter command: The command that runs a shard again.
  private mutating func addOtherLibraries(_ command: (_ shard: String) -> String) {
    guard let plan = plan ?? blobs.first?.blob.plan else { return }
    var records: [String: CaseRecord] = [:]
    for record in blobs.flatMap(\.blob.report.records) { records[record.item.title] = record }
    var known: [String: (version: String, key: String)] = [:]
    for shard in 1...plan.shards {
      var differing: [(key: String, library: String)] = []
      for record in plan.items(of: shard).compactMap({ records[$0.key] }) {
        let key = record.item.title
        for (name, version) in record.libraries where known[name] == nil {
          known[name] = (version, key)
        }
        let other = record.libraries.keys.sorted().first {
          record.libraries[$0] != known[$0]?.version
        }
        if let other { differing.append((key, other)) }
      }
      guard let (key, name) = differing.first, let version = records[key]?.libraries[name],
        let first = known[name]
      else { continue }
      let number = "\(shard)/\(plan.shards)"
      problems.append(
        ShardError.otherLibrary(
          "\(name) \(version)", first: (first.key, "\(name) \(first.version)"),
          shard: (number, key, differing.count), command: command(number)))
    }
  }

  /// The outcome of all shards, with the status of a single run.
  ///
  /// - Precondition: There is no problem.
  /// - Parameters:
  ///   - project: The folder of the project; it needs no sessions.
  ///   - folder: Where the report is written; no report is written if `nil`.
  /// - Throws: `SuiteError.notWritable` and `report.folder.otherFile` for a folder that cannot be used.
  package func outcome(in project: Project, report folder: String?) throws -> SuiteRun.Outcome {
    if let folder {
      try project.requireOwn(folder)
      try ReportFolder.check(URL(fileURLWithPath: project.path(folder)))
    }
    precondition(problems.isEmpty && !blobs.isEmpty, "blobs with problems are not merged")
    let blobs = blobs.map(\.blob).sorted { $0.shard < $1.shard }
    let records = blobs.flatMap(\.report.records)
    let items = (plan ?? blobs[0].plan).items
    let places = Dictionary(items.enumerated().map { ($1.key, $0) }) { first, _ in
      first
    }
    var report = blobs[0].report
    report.records = records.sorted { places[$0.item.title] ?? 0 < places[$1.item.title] ?? 0 }
    // Shards run at the same time; the cases of a store may have run one after the other.
    let seconds = blobs.map(\.report.seconds)
    report.seconds = plan == nil ? seconds.max() ?? 0 : seconds.reduce(0, +)
    report.time = blobs.map(\.report.time).min() ?? ""
    for note in blobs.flatMap(\.report.notes) where !report.notes.contains(note) {
      report.notes.append(note)
    }
    // Each shard kept as many images as fit into one report.
    var picturesLeft = ReportBuilder.picturesMax
    for index in report.records.indices {
      picturesLeft -= report.records[index].item.keepPictures(ofFrames: picturesLeft)
    }
    var outcome = report.outcome(empty: .nothingCompared)
    outcome.writeReport(to: folder, of: project)
    return outcome
  }
}

extension ShardPlan {
  /// The first difference from another plan, in words.
  fileprivate func difference(from other: ShardPlan) -> String {
    if build != other.build { return "another program wrote it" }
    if project != other.project { return "retake.yml differs" }
    if suite != other.suite { return "the suite differs" }
    if shards != other.shards { return "\(shards) shards, not \(other.shards)" }
    if items.map(\.key) != other.items.map(\.key) { return "it has other cases" }
    guard let (item, first) = zip(items, other.items).first(where: { $0 != $1 }) else {
      return "its digest differs"
    }
    return "\(item.difference(from: first)) of \(item.key) differs"
  }
}
