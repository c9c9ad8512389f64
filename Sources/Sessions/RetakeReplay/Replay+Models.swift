import Foundation
package import RetakeCore
package import RetakeGraph

extension Replay {
  /// SHA-256 of the models that the stages read, and of their sidecars, by name.
  ///
  /// The name is the path in the pipeline. Of an absolute path, which other machines do not have, it
  /// is the last part.
  package var modelFiles: [String: String] { Self.named(allStages.map(\.modelFiles)) }

  /// The devices that compute the models, by node; empty if the processor computes all of them.
  package var modelDevices: [String: ModelDevice] {
    var devices: [String: ModelDevice] = [:]
    for node in pipeline.flattened().nodes { devices[node.id] = node.stage.modelDevice }
    for case .swap(let swap) in overrides {
      guard let device = swap.stage.modelDevice else { continue }
      devices["swap:\(swap.node)"] = device
    }
    return devices
  }

  /// SHA-256 of the files whose stored results the stages return, by name, as for models.
  package var storedFiles: [String: String] {
    Self.named(allStages.compactMap { $0.stored?.storedFiles })
  }

  private static func named(_ digests: [[String: String]]) -> [String: String] {
    var files: [String: String] = [:]
    for (path, digest) in digests.flatMap({ $0.sorted { $0.key < $1.key } }) {
      let name = path.hasPrefix("/") ? (path as NSString).lastPathComponent : path
      files[freeName(name, digest, in: files)] = digest
    }
    return files
  }

  /// Checks that stored results are of the frames that the sources read.
  func requireStoredFrames() throws {
    let counts = Dictionary(
      prepared.trackDescriptions.map { ($0.track, $0.frameCount) }, uniquingKeysWith: max)
    for stage in allStages { try stage.stored?.requireFrames(counts) }
  }

  /// SHA-256 of the files that the commands of programs name, by their paths.
  ///
  /// Files with absolute paths, such as an interpreter, belong to the machine and not to the
  /// project, so they are omitted.
  package var programFiles: [String: String] { Self.programFiles(allStages) }

  private static func programFiles(_ stages: [AnyStage]) -> [String: String] {
    var files: [String: String] = [:]
    for stage in stages {
      files.merge(stage.programFiles.filter { !$0.key.hasPrefix("/") }) { $1 }
    }
    return files
  }

  /// The digests of models, programs and stored results by name, and of the fingerprints of stages:
  /// everything besides the pipeline's document that the values of stages depend on.
  package var files: [String: String] { Self.files(allNodes) }

  /// The same for a replay without overrides. No session is opened.
  package static func files(of pipeline: Pipeline) -> [String: String] {
    files(nodes(of: pipeline))
  }

  private typealias NamedStage = (name: String, stage: AnyStage)

  private static func files(_ nodes: [NamedStage]) -> [String: String] {
    let stages = nodes.map(\.stage)
    var files = named(stages.map(\.modelFiles))
    for other in [programFiles(stages), named(stages.compactMap { $0.stored?.storedFiles })] {
      files.merge(other) { first, _ in first }
    }
    for node in nodes where !node.stage.sharedFingerprint.isEmpty {
      files["fingerprint of \(node.name)"] = "\(Digest128(of: node.stage.sharedFingerprint))"
    }
    return files
  }

  private static func nodes(of pipeline: Pipeline) -> [NamedStage] {
    pipeline.flattened().nodes.map { ($0.id, $0.stage) }
  }

  /// The stages of the pipeline, and the stages that are swapped in.
  private var allNodes: [NamedStage] {
    let swapped = overrides.compactMap { entry -> NamedStage? in
      guard case .swap(let swap) = entry else { return nil }
      return ("swap:\(swap.node)", swap.stage)
    }
    return Self.nodes(of: pipeline) + swapped
  }

  private var allStages: [AnyStage] { allNodes.map(\.stage) }

  /// The value that a stage with a model receives for a frame.
  ///
  /// - Parameters:
  ///   - node: Inside a forEach `x/NODE`.
  ///   - item: Which item of the frame, inside a forEach.
  /// - Returns: `nil` if the frame, or the item, does not reach the stage.
  /// - Throws: As `run(observers:)`.
  package func input(
    of node: String, for frame: FrameID, item: Int = 0
  ) throws -> (any PipelineValue)? {
    try prepared.input(
      of: node, for: frame, item: item, isInterrupted: request.options.isInterrupted)
  }

  /// The name, or one with a number if another file has it.
  private static func freeName(
    _ name: String, _ digest: String, in files: [String: String]
  ) -> String {
    // Ends: there are fewer files than numbers.
    for number in 1...files.count + 1 {
      let free = number == 1 ? name : "\(name)#\(number)"
      if (files[free] ?? digest) == digest { return free }
    }
    return name
  }
}
