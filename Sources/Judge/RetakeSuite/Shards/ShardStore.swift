import Foundation
import RetakeCore
import RetakeGolden
import RetakeSession

/// The results of a plan's cases in a folder that several machines share: a blob for each case, with
/// the digest of everything that its result depends on as its name.
///
/// An attempt at a case holds a lock on a hidden file next to the blob and renames the file when the
/// case has ended. The hidden file of a killed process stays, without a lock: it counts attempts.
struct ShardStore: Sendable {
  /// A case that ended its process this number of times is not tried again.
  static let attemptsMax = 2

  let folder: String
  let plan: ShardPlan

  /// - Parameter folder: An absolute path.
  init(folder: String, plan: ShardPlan) { (self.folder, self.plan) = (folder, plan) }

  /// The plan of one case, which does not depend on the other cases of a plan.
  private func plan(of item: ShardPlan.Item) -> ShardPlan {
    var alone = item
    // A prediction does not change the result.
    alone.seconds = nil
    return ShardPlan(
      [alone], shards: 1, build: plan.build, project: plan.project, suite: plan.suite)
  }

  func file(of item: ShardPlan.Item) -> String { path(plan(of: item)) }

  private func path(_ alone: ShardPlan) -> String {
    "\(folder)/\(alone.digest.prefix(2))/\(alone.digest).blob"
  }

  /// The result of a case; `nil` if there is no blob.
  ///
  /// - Throws: `ShardError.unreadable`, `.damaged`, and other errors of blobs.
  func blob(of item: ShardPlan.Item) throws -> ShardBlob? {
    let alone = plan(of: item)
    let file = path(alone)
    guard RegularFile.isTaken(file) else { return nil }
    let blob = try ShardBlob(reading: file, known: alone)
    guard blob.plan.digest == alone.digest else {
      throw ShardError.damaged(file, cause: "it is the result of another case")
    }
    return blob
  }

  /// A result that another attempt need not compute. An error, such as a session that could not be
  /// fetched, may be gone the next time, and a stale golden is not computed.
  func record(of item: ShardPlan.Item) -> CaseRecord? {
    guard item.pipeline != nil, let record = try? blob(of: item)?.report.records.first else {
      return nil
    }
    let problem = record.item.error
    return problem == nil || problem?.code == ShardError.poisonCode ? record : nil
  }

  /// The number of attempts whose processes were killed.
  func attempts(at item: ShardPlan.Item) -> Int {
    let file = file(of: item)
    return (1...Self.attemptsMax).last {
      PendingFile.abandoned(for: file, ending: Self.ending($0)) > 0
    } ?? 0
  }

  private static func ending(_ attempt: Int) -> String { ".\(attempt)" }

  /// Runs a case and publishes its result, unless a disk failed: then the case has no result.
  ///
  /// - Parameter attempts: The attempts before this one.
  /// - Throws: `SuiteError.notWritable`, and errors of `run`; then this attempt leaves no file.
  func publish(
    _ item: ShardPlan.Item, after attempts: Int, _ run: () throws -> SuiteReport
  ) throws -> SuiteReport {
    let alone = plan(of: item)
    let path = path(alone)
    try? FileManager.default.createDirectory(
      at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
    guard let file = PendingFile(for: path, ending: Self.ending(attempts + 1)) else {
      throw SuiteError.notWritable(path: path, cause: POSIXError.last.systemText)
    }
    do {
      let report = try run()
      guard !report.records.contains(where: { $0.status == .infrastructure }) else {
        file.discard()
        return report
      }
      // Another machine has had a result meanwhile, which an error of this machine must not replace.
      if report.records.contains(where: { $0.item.error != nil }), let known = record(of: item) {
        file.discard()
        var report = report
        report.records = [known]
        return report
      }
      try ShardBlob(plan: alone, shard: 1, report: report).write(to: file)
      for attempt in 1...Self.attemptsMax + 1 {
        PendingFile.abandoned(for: path, ending: Self.ending(attempt), removing: true)
      }
      return report
    } catch let error as any RetakeError {
      file.discard()
      throw error
    } catch {
      file.discard()
      throw SuiteError.notWritable(path: path, cause: error.systemText)
    }
  }
}

extension GoldenLibrary.Key {
  init(planned item: ShardPlan.Item) {
    let parts = item.key.split(separator: "/", maxSplits: 1).map(String.init)
    self.init(session: parts.first ?? "", testCase: parts.count == 2 ? parts[1] : "")
  }
}
