import Foundation
import RetakeCore
import RetakeStore
import RetakeTestClips
import RetakeTimePlane
import Testing

@testable import RetakeSession

@Suite struct RecordedTimingsTests {
  /// A session with a number of runs; run n has the spans of n stages for ten frames.
  private func session(runs: Int) throws -> ImportedClip {
    let imported = try ImportedClip(.oddSize)
    let writer = try StoreWriter(continuing: imported.path + "/session.sqlite")
    for run in 0..<runs {
      writer.append([
        RunRecord(run: run, kind: "live", pipeline: "{}", startedNanoseconds: 0)
      ])
      for node in 0..<run {
        writer.append((0..<10).map { Self.span(run: run, node: "stage-\(node)", sequence: $0) })
      }
    }
    try writer.close()
    return imported
  }

  private static func span(
    run: Int, node: String, sequence: Int, cost: Int64? = nil
  ) -> SpanRecord {
    let start = Int64(sequence) * 33
    return SpanRecord(
      run: run, node: node, track: 0, sequence: sequence, readyNanoseconds: start - 5,
      startNanoseconds: start, endNanoseconds: start + (cost ?? Int64(run * 100 + sequence)),
      cpuNanoseconds: 1, executor: "vision", outcome: "done")
  }

  private func costs(_ timings: RecordedTimings, of node: String) -> [Int64?]? {
    timings.column(of: node).map { column in
      (0..<10).map { column.nanoseconds(of: FrameID(track: 0, sequence: $0), item: -1) }
    }
  }

  @Test func `the newest run with stage times is the timings, unless another is named`() throws {
    let reader = try session(runs: 4).reader()
    let newest = try reader.recordedTimings()
    #expect(newest.name.hasPrefix("run 3 of "))
    #expect(newest.spanCount == 30)
    #expect(costs(newest, of: "stage-2") == (300..<310).map { Int64($0) })
    #expect(newest.digest == (try reader.recordedTimings(run: 3)).digest)
    let first = try reader.recordedTimings(run: 1)
    #expect(first.spanCount == 10)
    #expect(costs(first, of: "stage-0") == (100..<110).map { Int64($0) })
    #expect(costs(first, of: "stage-2") == nil)
  }

  @Test func `a session without stage times says how to measure some`() throws {
    for runs in [0, 1] {
      let reader = try session(runs: runs).reader()
      let error = #expect(throws: SessionError.self) { try reader.recordedTimings() }
      #expect(error?.code == "session.costs.none")
      #expect(error?.advice?.contains("--write-timings") == true)
    }
  }

  @Test func `a run that is not there, or has no stage times, is named with those that are`() throws
  {
    let reader = try session(runs: 3).reader()
    for run in [0, 7] {
      let error = #expect(throws: SessionError.self) { try reader.recordedTimings(run: run) }
      #expect(error?.code == "session.run.unknown")
      #expect(error?.message.contains("run 1, 2") == true)
    }
  }

  @Test func `reading the stage times changes nothing, and the input stays the same`() throws {
    let imported = try session(runs: 2)
    let reader = try imported.reader()
    let before = try Data(contentsOf: URL(filePath: imported.path + "/session.sqlite"))
    let digest = try reader.inputDigest(tracks: [0])
    _ = try reader.recordedTimings()
    #expect(try Data(contentsOf: URL(filePath: imported.path + "/session.sqlite")) == before)
    #expect(try ImportedClip(.oddSize).reader().inputDigest(tracks: [0]) == digest)
  }
}
