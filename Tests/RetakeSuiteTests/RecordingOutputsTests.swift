import Foundation
import Retake
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeProcess
import RetakeRecord
import RetakeReplay
import RetakeSession
import RetakeStages
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// The output of a recording's pipeline: lines during the recording, and a trace of its decisions.
@Suite(.onOwnThread) struct RecordingOutputsTests {
  private static let document = """
    {"v": 1, "name": "beside",
     "nodes": [
      {"id": "camera", "kind": "session", "pool": "frames"},
      {"id": "motion", "kind": "motion"},
      {"id": "analytics", "kind": "metadata", "primary": true}],
     "edges": [
      {"from": "camera", "to": "motion", "capacity": 2, "policy": "dropOldest"},
      {"from": "motion", "to": "analytics"}],
     "pools": [{"id": "frames", "capacity": 8, "adaptive": {}}]}
    """
  /// Results after which a recording is stopped, however long a busy machine needs for them.
  private static let resultsMin = 20

  /// A recording, the lines about it, and its messages.
  private struct Recorded {
    var result: RecordingResult
    var lines: RecordingLines?
    var failure: (any Error)?
    var notes: [String]
  }

  /// - Parameters:
  ///   - begun: Called when the outputs are open, before the recording begins.
  ///   - ended: Called when the recording has ended, before the remaining output is written.
  private func record(
    into folder: TemporaryFolder, waitingBytesMax: Int = LineStream.waitingBytesMax,
    begun: () throws -> Void = {}, ended: () -> Void = {}, _ change: (inout RunOutputs) -> Void
  ) throws -> Recorded {
    var live = LivePipeline(
      try PipelineDocument.parse(Data(Self.document.utf8), catalog: StageRegistry.builtIn),
      registry: .builtIn)
    live.watchesDevice = false
    var wanted = RunOutputs()
    change(&wanted)
    let notes = Locked<[String]>([])
    let outputs = try RecordingOutputs(wanted, of: live, waitingBytesMax: waitingBytesMax) { note in
      notes.withLock { $0.append(note) }
    }
    defer { outputs.discard() }
    try begun()
    var picture = RecordingInput.Image()
    (picture.width, picture.height, picture.frames) = (96, 64, 100_000)
    var options = RecorderOptions(
      name: "yard", into: folder.file("Recordings").path, probe: .skip)
    options.reserveBytes = 0
    let (recorder, results) = (Locked<Recorder?>(nil), Locked(0))
    let counting = RecordingWatch(
      captured: { _ in },
      found: { _ in
        let count = results.withLock {
          $0 += 1
          return $0
        }
        if count == Self.resultsMin { recorder.withLock { $0 }?.stop() }
      })
    let recording = try Recorder(
      try RecordingInput.source("synthetic:figures", picture), options: options, pipeline: live,
      watch: RecordingWatch([outputs.watch, counting].compactMap(\.self)))
    recorder.withLock { $0 = recording }
    let result = try recording.run()
    ended()
    let written = outputs.finish(result)
    return Recorded(
      result: result, lines: written.lines, failure: written.failure, notes: notes.withLock { $0 })
  }

  private func captured(_ recorded: Recorded) throws -> Int {
    let captured = try #require(try recorded.result.pipeline?.get()).headline.captured
    #expect(recorded.result.isClosed && captured >= Self.resultsMin)
    #expect(recorded.result.progress.frames.captured >= captured)
    return captured
  }

  @Test func `a metadata file has the lines that the session keeps, one a captured frame`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("boxes.jsonl")
    let recorded = try record(into: folder) { $0.metadata = [MetadataOutput(path: file.path)] }
    let captured = try captured(recorded)
    let entry = try #require(recorded.lines?.metadata?.first)
    #expect(entry.sink == "analytics" && entry.file == file.path)
    #expect(entry.written == captured && entry.dropped == 0)
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(
      String.init)
    let kept = try SessionReader(opening: recorded.result.folder.path).liveRun().results(from: 0)
    #expect(lines == kept.map(\.line))
    #expect(recorded.notes == [])
  }

  @Test func `a trace of a recording says what the session's decisions say, and what was leased`()
    throws
  {
    let folder = try TemporaryFolder()
    let file = folder.file("trace.json")
    let recorded = try record(into: folder) { $0.trace = file.path }
    let captured = try captured(recorded)
    #expect(recorded.notes == [])
    let data = try Data(contentsOf: file)
    let trace = TraceFile(data)
    #expect(trace.problems == [])
    let live = try SessionReader(opening: recorded.result.folder.path).liveRun()
    var decisions: [DecisionLine] = []
    while case let page = try live.decisions(from: decisions.count), !page.isEmpty {
      decisions += page.compactMap { DecisionLine(parsing: $0) }
    }
    let hidden: [DecisionKind] = [.start, .done, .deliver]
    #expect(
      trace.events.filter { $0.phase == "i" }.map(\.category)
        == decisions.filter { !hidden.contains($0.kind) }.map(\.kind.rawValue))
    #expect(
      trace.names("B").count { $0.hasPrefix("motion ") }
        == decisions.count { $0.kind == .start && $0.node == "motion" })
    let leases = trace.events.filter { $0.name == "pool frames" }.compactMap {
      $0.arguments["leases"].flatMap { Int($0) }
    }
    #expect((1...16).contains(leases.max() ?? 0) && leases.count >= captured)
    #expect(trace.events.contains { $0.name == "size of pool frames" })
    #expect(trace.about["mode"] == "live" && trace.about["session"] == "yard")
    // The same from the record, at any later time.
    let later = folder.file("later.json")
    var job = ReplayJob(
      project: Project(folder: folder.url.path),
      definition: CaseDefinition(name: "live", pipeline: ""),
      session: recorded.result.folder.path)
    job.outputs.trace = later.path
    #expect(try job.reproduce(run: nil, hasOwnPipeline: false).isReproduced)
    #expect(try Data(contentsOf: later) == data)
  }

  @Test func `the pools of a live pipeline are in its progress`() throws {
    let folder = try TemporaryFolder()
    let recorded = try record(into: folder) { _ in }
    let pools = try #require(recorded.result.progress.pipeline?.pools)
    let pool = try #require(pools.first)
    #expect(pool.pool == "frames" && pool.requests > 0 && pool.peak > 0)
    let outcome = try #require(try recorded.result.pipeline?.get())
    #expect(pools == outcome.pools)
  }

  /// A path that leads into a pipe, whatever reads from it.
  private func path(into pipe: ChildPipe) throws -> String {
    "/dev/fd/\(try #require(pipe.writeEnd))"
  }

  @Test func `a reader that reads nothing holds no recording up, and what it missed is counted`()
    throws
  {
    let folder = try TemporaryFolder()
    let pipe = try ChildPipe()
    let path = try path(into: pipe)
    let (read, isRead) = (Locked<[UInt8]>([]), DispatchSemaphore(value: 0))
    let recorded = try record(
      into: folder, waitingBytesMax: 500, begun: { try fill(pipe) },
      ended: {
        // There is a reader only from here on.
        pipe.closeWriteEnd()
        pipe.readToEnd { bytes in
          if let bytes { read.withLock { $0 += bytes } } else { isRead.signal() }
        }
      }
    ) { $0.metadata = [MetadataOutput(path: path)] }
    let captured = try captured(recorded)
    let entry = try #require(recorded.lines?.metadata?.first)
    #expect(entry.written + entry.dropped == captured)
    #expect(entry.dropped > 0)
    #expect(recorded.notes.contains { $0.contains("result lines were dropped") })
    isRead.wait()
    let kept = try SessionReader(opening: recorded.result.folder.path).liveRun().results(from: 0)
    let lines = String(decoding: read.withLock { $0 }, as: UTF8.self).split(separator: "\n")
    #expect(lines.count == entry.written)
    #expect(lines.last.map(String.init) == kept.last?.line)
  }

  /// Fills a pipe with empty lines until a write would block.
  private func fill(_ pipe: ChildPipe) throws {
    let number = try #require(pipe.writeEnd)
    let flags = fcntl(number, F_GETFL)
    _ = fcntl(number, F_SETFL, flags | O_NONBLOCK)
    let lineEnd = [UInt8](repeating: UInt8(ascii: "\n"), count: 1)
    // Ends: a pipe holds a mebibyte at most.
    while write(number, lineEnd, 1) == 1 {}
    _ = fcntl(number, F_SETFL, flags)
  }

  @Test func `a reader that leaves does no harm to the recording`() throws {
    let folder = try TemporaryFolder()
    let pipe = try ChildPipe()
    let path = try path(into: pipe)
    let recorded = try record(into: folder, begun: { pipe.closeReadEnd() }) {
      $0.metadata = [MetadataOutput(path: path)]
    }
    let captured = try captured(recorded)
    let entry = try #require(recorded.lines?.metadata?.first)
    #expect(entry.written == 0 && entry.dropped == captured)
    #expect(
      recorded.notes == ["warning: no one reads the metadata any more; the recording continues"])
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "there is no /dev/full"))
  func `a disk without room for the lines is an error when everything else is written`() throws {
    let folder = try TemporaryFolder()
    let trace = folder.file("trace.json")
    let recorded = try record(into: folder) {
      $0.metadata = [MetadataOutput(path: "/dev/full")]
      $0.trace = trace.path
    }
    _ = try captured(recorded)
    #expect((recorded.failure as? ReplayError)?.code == "replay.metadata.unwritable")
    let entry = try #require(recorded.lines?.metadata?.first)
    #expect(entry.written == 0 && entry.dropped >= Self.resultsMin)
    #expect(FileManager.default.fileExists(atPath: trace.path))
    #expect(recorded.notes.count { $0.contains("the recording continues") } == 1)
  }

  @Test func `outputs that cannot be opened leave no file behind`() throws {
    let folder = try TemporaryFolder()
    #expect(throws: ReplayError.self) {
      try record(into: folder) {
        $0.metadata = [MetadataOutput(path: folder.file("boxes.jsonl").path)]
        $0.trace = folder.file("absent/trace.json").path
      }
    }
    #expect(throws: SuiteError.notMetadata("motion", known: ["analytics"])) {
      try record(into: folder) { $0.metadata = [MetadataOutput(sink: "motion", path: "x")] }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
  }
}
