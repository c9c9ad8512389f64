import CRetake
import Foundation
import Retake
import Testing

@testable import RetakeC

/// The numbers that callers have.
@Suite struct PipelinesTests {
  private static let document = Data(
    #"""
    {"v": 1, "nodes": [{"id": "camera", "kind": "session"}, {"id": "light", "kind": "luminance"},
     {"id": "out", "kind": "results"}],
     "edges": [{"from": "camera", "to": "light"}, {"from": "light", "to": "out"}]}
    """#.utf8)

  private func made() throws -> CPipeline {
    try CPipeline(
      Document(Self.document, permissions: 0),
      tracks: [LiveTrack(format: .gray, width: 8, height: 8)], options: LiveOptions()
    ) { _ in }
  }

  private func status(_ body: () throws -> Void) -> retake_status? {
    do {
      try body()
      return nil
    } catch {
      return (error as? Problem)?.status
    }
  }

  @Test func `a number is given once, and known to be destroyed`() throws {
    let pipelines = Pipelines()
    let one = try pipelines.add(made)
    try pipelines.remove(one).destroy()
    let two = try pipelines.add(made)
    #expect((one, two) == (1, 2))
    #expect(status { _ = try pipelines.pipeline(one) } == RETAKE_ERROR_HANDLE)
    let past = #expect(throws: Problem.self) { try pipelines.remove(one) }
    #expect(past?.message == "the pipeline 1 was destroyed")
    let never = #expect(throws: Problem.self) { try pipelines.pipeline(3) }
    #expect(never?.message == "there is no pipeline 3")
    #expect(status { _ = try pipelines.pipeline(0) } == RETAKE_ERROR_HANDLE)
    try pipelines.remove(two).destroy()
  }

  @Test func `a pipeline that cannot be made takes no number`() throws {
    struct Refusal: Error {}
    let pipelines = Pipelines()
    #expect(throws: Refusal.self) { try pipelines.add { throw Refusal() } }
    let one = try pipelines.add(made)
    #expect(one == 1)
    try pipelines.remove(one).destroy()
  }

  @Test func `a loan ends once, and not after it was cancelled`() {
    let loans = BorrowedFrames()
    let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    defer { count.deallocate() }
    count.initialize(to: 0)
    let release: retake_release = { $0?.assumingMemoryBound(to: Int.self).pointee += 1 }
    let ended = Loan(loans, release: release, context: count)
    ended.end()
    ended.end()
    let cancelled = Loan(loans, release: release, context: count)
    cancelled.cancel()
    cancelled.end()
    #expect(count.pointee == 1)
    let open = Loan(loans, release: release, context: count)
    #expect(loans.waitForEnd(nanosecondsMax: 0) == 1)
    open.end()
    #expect(loans.waitForEnd(nanosecondsMax: 0) == 0)
    #expect(count.pointee == 2)
  }

  @Test func `errors of the engine have the status of their kind`() {
    let errors: [(any Error, retake_status)] = [
      (RuntimeError.noThread(name: "a", cause: "b"), RETAKE_ERROR_LIMIT),
      (RuntimeError.interrupted, RETAKE_ERROR_INTERRUPTED),
      (RuntimeError.notLive(node: "a"), RETAKE_ERROR_DOCUMENT),
      (RuntimeError.swapRefused(node: "a", code: "b"), RETAKE_ERROR_SWAP),
      (ReplayError.noSession(node: "a"), RETAKE_ERROR_DOCUMENT),
      (SessionError.notSession(path: "a", cause: "b"), RETAKE_ERROR_SESSION),
      (CancellationError(), RETAKE_ERROR_RUN),
    ]
    for (error, status) in errors { #expect(Problem(error).status == status, "\(error)") }
  }

  /// Halts at the second frame.
  private struct Halting: PureStage {
    static let kind = "halting"

    func process(_ frame: Frame, _ context: StageContext) throws -> Scalars {
      guard context.frame.sequence < 1 else {
        throw StageError(code: "test.broken", message: "it broke", severity: .unrecoverable)
      }
      return Scalars([])
    }
  }

  @Test func `a halt is an error of stop`() throws {
    let pipeline = Pipeline.named("halts").source(.session()).stage(Halting()).results()
    let results = DispatchSemaphore(value: 0)
    let embedded = try CPipeline(
      Document(pipeline: pipeline, catalog: .builtIn),
      tracks: [LiveTrack(format: .gray, width: 2, height: 1)], options: LiveOptions()
    ) { _ in results.signal() }
    let frame = Frame(format: .gray, width: 2, height: 1, planes: [[1, 2]])
    #expect(try embedded.push(frame, track: 0) == 0)
    results.wait()
    #expect(try embedded.push(frame, track: 0) == 1)
    let halt = #expect(throws: Problem.self) { try embedded.stop() }
    #expect(halt?.status == RETAKE_ERROR_RUN && halt?.code == "test.broken")
    #expect(halt?.message == "'halting' halted the run at frame 0:1: it broke")
    #expect(embedded.counts().captured == 2)
    #expect(status { try embedded.stop() } == RETAKE_ERROR_STOPPED)
    #expect(status { _ = try embedded.push(frame, track: 0) } == RETAKE_ERROR_STOPPED)
    try embedded.destroy()
  }
}
