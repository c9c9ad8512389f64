import Foundation
import Retake
import RetakeGraph
import RetakeStages
import RetakeTestSupport
import Testing

/// docs/pipelines.md: every document in it is valid, and no key is missing.
@Suite struct PipelinePageTests {
  private func blocks() throws -> [String] {
    let page = try String(
      contentsOf: packageRoot.appending(path: "docs/pipelines.md"), encoding: .utf8)
    return page.components(separatedBy: "```json\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
  }

  private func pipelines() throws -> [String: Pipeline] {
    var found: [String: Pipeline] = [:]
    // A block with only a node belongs to a program, without which the node could not be made.
    for block in try blocks() where block.contains("\"nodes\":") {
      let pipeline = try PipelineDocument.parse(Data(block.utf8), catalog: StageRegistry.builtIn)
      #expect(found.updateValue(pipeline, forKey: pipeline.name) == nil, "\(pipeline.name)")
    }
    return found
  }

  @Test func `each document is a pipeline, and reads back as itself`() throws {
    let pipelines = try pipelines()
    #expect(pipelines.count >= 8)
    for (name, pipeline) in pipelines {
      let text = try PipelineDocument.json(of: pipeline).canonicalText
      let again = try PipelineDocument.parse(Data(text.utf8), catalog: StageRegistry.builtIn)
      #expect(again.digest == pipeline.digest, "\(name)")
      #expect(try pipeline.analyzed().warnings.isEmpty, "\(name)")
    }
  }

  @Test func `each key of a document has an example`() throws {
    let text = try blocks().joined()
    for key in [
      "v", "name", "nodes", "edges", "executors", "pools", "id", "kind", "options", "cost", "fixed",
      "uniform", "p50", "p99", "executor", "primary", "precision", "concurrency", "pinned",
      "fallback",
      "timeout", "pool", "hold", "body", "output", "from", "to", "capacity", "policy", "count",
      "mode", "ports", "adaptive", "min", "max", "predictor", "off",
    ] { #expect(text.contains("\"\(key)\":"), "\(key)") }
  }

  @Test func `the words of the page give its documents`() throws {
    let pipelines = try pipelines()
    let gray = Pipeline.named("branches").source(.session()).gray()
    let branches = Pipeline.combining(
      gray.motion().results("boxes"), gray.luminance(id: "light").results("values"))
    let frames = Pipeline.named("p").source(.session())
    let calm = frames.motion(threshold: 40, id: "calm").cost(.fixed(.milliseconds(10)))
    let keen = frames.motion(threshold: 12, id: "keen").cost(.fixed(.milliseconds(25)))
    let ensemble = Pipeline.joining(
      calm, keen, mode: .any, timeout: .milliseconds(50), id: "both"
    ).mergeDetections(id: "merged").results("boxes")
    let motion = frames.motion().cost(.fixed(.milliseconds(120)))
      .queue(capacity: 1, policy: .replace)
    let overlay = frames.latest(with: motion, ports: ["frame", "boxes"], id: "shown")
      .queue(capacity: 2, policy: .dropOldest, port: "frame")
      .sink(.discard, id: "screen", hold: .milliseconds(16))
    let colors = frames.forEach(frames.motion(), id: "each") { region in
      region.regionCrop(padding: 0.2).meanColor().cost(.fixed(.milliseconds(4))).concurrency(2)
    }.results("boxes")
    for (name, words) in [
      ("branches", branches), ("ensemble", ensemble), ("overlay", overlay), ("colours", colors),
    ] {
      try words.validate()
      let page = try #require(pipelines[name])
      #expect(Set(words.nodes.map(\.kind)) == Set(page.nodes.map(\.kind)), "\(name)")
      #expect(words.edges.count == page.edges.count, "\(name)")
      #expect(
        Set(words.edges.map(\.policy)) == Set(page.edges.map(\.policy)), "\(name)")
    }
  }
}
