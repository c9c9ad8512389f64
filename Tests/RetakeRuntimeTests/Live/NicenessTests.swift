import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeRuntime

/// How much the threads of a live run leave the processor to others, as the kernel counts it.
@Suite(.enabled(if: Niceness.ofThisThread != nil, "there is no /proc/thread-self"))
struct NicenessTests {
  private func niceness(_ options: LiveOptions) async throws -> [Double] {
    let pipeline = Pipeline(
      name: "live",
      nodes: [
        PipelineNode(id: "camera", stage: .pushed(track: 0)), .stage("nice", AnyStage(Niceness())),
        .sink(),
      ], edges: [PipelineEdge("camera → nice"), PipelineEdge("nice → sink")])
    let session = try LiveSession(
      pipeline, tracks: [LiveTrack(format: .gray, width: 1, height: 1)],
      catalog: StageRegistry(), options: options)
    let reading = Task {
      var values: [Double] = []
      for await result in session.results {
        for case .facts(let facts) in result.frame.result.outcomes.map(\.content) {
          for case .scalar(_, let value) in facts { values.append(value) }
        }
      }
      return values
    }
    for _ in 0..<8 {
      session.push(Frame(format: .gray, width: 1, height: 1, planes: [[1]]))
    }
    _ = try await session.stop()
    return await reading.value
  }

  @Test func `the threads that compute are nicer by that much than those that started the run`()
    async throws
  {
    let own = Double(Niceness.ofThisThread ?? 0)
    var options = LiveOptions(workers: 2)
    #expect(Set(try await niceness(options)) == [own])
    options.niceness = 7
    #expect(Set(try await niceness(options)) == [min(19, own + 7)])
    // This thread, and others of the process, are as they were.
    #expect(Double(Niceness.ofThisThread ?? 0) == own)
  }

  @Test(arguments: [-1, 20]) func `a niceness that does not exist is refused`(value: Int) {
    var options = LiveOptions()
    options.niceness = value
    let error = #expect(throws: RuntimeError.self) { try options.check() }
    #expect(error?.message.contains("\(value)") == true)
  }
}

/// Tells the niceness of the thread that computes it.
private struct Niceness: PureStage {
  static let kind = "niceness"

  init() {}
  init(options: NoOptions) {}

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    Scalars([.init("nice", Double(Self.ofThisThread ?? -100))])
  }

  /// The 19th field of proc(5)'s `stat`, counted from the end of the name, which may have spaces.
  static var ofThisThread: Int? {
    let text = try? String(contentsOfFile: "/proc/thread-self/stat", encoding: .utf8)
    let fields = text?.split(separator: ")").last?.split(separator: " ")
    return fields.flatMap { $0.count > 16 ? Int($0[16]) : nil }
  }
}
