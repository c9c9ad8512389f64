import RetakeCore
import RetakeGraph
import RetakeTestCatalog
import Testing

/// Mistakes in Swift code stop the program with a message about the broken rule, also in release
/// builds.
@Suite struct DSLRuleTests {
  /// The output of a program that was ended.
  private func words(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test func `two different nodes of one id are not combined`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let frames = Pipeline.named("p").source(.test("session"))
      _ = Pipeline.combining(
        frames.stage(Gray()).sink(.test("results")),
        frames.stage(Gray()).concurrency(2).sink(.test("results")))
    }
    let said = words(result)
    #expect(said.contains("two different nodes have the id 'grey': change one id"), "\(said)")
  }

  @Test func `two closures of one id are not combined, one closure is`() async {
    await #expect(processExitsWith: .failure) {
      let frames = Pipeline.named("p").source(.test("session"))
      func counted() -> PipelineChain<Scalars> { frames.map("count") { _, _ in Scalars([]) } }
      _ = Pipeline.combining(
        counted().sink(.test("results")), counted().sink(.test("results"), id: "b"))
    }
    let counted = Pipeline.named("p").source(.test("session")).map("count") { _, _ in Scalars([]) }
    let both = Pipeline.combining(
      counted.sink(.test("results")), counted.sink(.test("results"), id: "b"))
    #expect(both.nodes.map(\.id) == ["camera", "count", "results", "b"])
  }

  @Test func `a queue, an executor or a pool is declared once`() async {
    await #expect(processExitsWith: .failure) {
      let gray = Pipeline.named("p").source(.test("session")).stage(Gray())
      _ = Pipeline.combining(
        gray.sink(.test("results")), gray.queue(capacity: 1).sink(.test("results")))
    }
    await #expect(processExitsWith: .failure) {
      let gray = Pipeline.named("p").source(.test("session")).stage(Gray())
      _ = Pipeline.joining(
        gray.executor("e", count: 1), gray.stage(View()).executor("e", count: 2))
    }
    await #expect(processExitsWith: .failure) {
      let gray = Pipeline.named("p").source(.test("session")).stage(Gray())
      _ = Pipeline.joining(
        gray.pool("p", capacity: 1), gray.stage(View()).pool("p", capacity: 2))
    }
  }

  @Test func `joins have ports of their own, and routes only theirs`() async {
    await #expect(processExitsWith: .failure) {
      let gray = Pipeline.named("p").source(.test("session")).stage(Gray())
      _ = Pipeline.joining(gray, gray)
    }
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let gray = Pipeline.named("p").source(.test("session")).stage(Gray())
      _ = gray.routing(.test("split")).port("middle")
    }
    #expect(words(result).contains("the route has the port 'middle'"), "\(words(result))")
  }

  @Test func `a body begins with its region and has no branches`() async {
    await #expect(processExitsWith: .failure) {
      let frames = Pipeline.named("p").source(.test("session"))
      let found = frames.stage(Boxes(options: .init()))
      let _: PipelineChain<Items> = frames.forEach(found) { _ in frames.stage(View()) }
    }
    await #expect(processExitsWith: .failure) {
      let frames = Pipeline.named("p").source(.test("session"))
      let found = frames.stage(Boxes(options: .init()))
      let _: PipelineChain<Items> = frames.forEach(found) { region in
        let pixels = region.stage(RegionPixels())
        return Pipeline.joining(pixels, pixels.stage(View()))
      }
    }
    await #expect(processExitsWith: .failure) {
      let frames = Pipeline.named("p").source(.test("session"))
      let found = frames.stage(Boxes(options: .init()))
      let _: PipelineChain<Items> = frames.forEach(found) { $0 }
    }
  }

  @Test func `detections of several branches do not say which frames they are of`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let frames = Pipeline.named("p").source(.test("session"))
      let found = frames.stage(Boxes(options: .init()))
      let classified: PipelineChain<Detections> = frames.forEach(found) {
        $0.stage(RegionPixels()).stage(Labels())
      }
      _ = classified.forEach { $0.stage(RegionPixels()).stage(Labels()) }
    }
    let said = words(result)
    #expect(said.contains("name their frames: frames.forEach(detections)"), "\(said)")
  }

  @Test func `there is no queue in front of a source`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Pipeline.named("p").source(.test("session")).queue(capacity: 1)
    }
    #expect(words(result).contains("there is no queue in front of 'camera'"), "\(words(result))")
  }
}
