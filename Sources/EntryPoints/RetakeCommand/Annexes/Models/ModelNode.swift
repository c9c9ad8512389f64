#if Models
  import Foundation
  import Retake

  /// A node of a pipeline that computes a model from a file.
  struct ModelNode: Sendable {
    /// Inside a forEach `x/NODE`.
    let id: String
    /// The model's path, and the node's options for it.
    let options: ModelOptions
    /// Kept, so that its model is loaded once.
    private let pipeline: Pipeline

    /// Finds the node.
    ///
    /// - Parameters:
    ///   - model: The path of an .onnx file.
    ///   - id: `nil` means the only node that computes this model.
    /// - Throws: `suite.model.noNode`, `suite.model.severalNodes`.
    init(_ id: String?, computing model: String, in pipeline: Pipeline) throws {
      let file = Self.resolved(model)
      let nodes = try pipeline.flattened().nodes.compactMap { node -> ModelNode? in
        guard !node.stage.modelFiles.isEmpty else { return nil }
        return ModelNode(
          id: node.id, options: try node.stage.options.decode(ModelOptions.self), in: pipeline)
      }
      let fitting = nodes.filter { Self.resolved($0.options.model) == file }
      let found = id.map { id in fitting.filter { $0.id == id } } ?? fitting
      guard let first = found.first else {
        let known = nodes.map { "\($0.id) (\($0.options.model))" }
        throw SuiteError(
          "suite.model.noNode",
          "\(id.map { "the node '\($0)'" } ?? "no node") of the pipeline '\(pipeline.name)' "
            + "\(id == nil ? "computes" : "does not compute") '\(model)'",
          advice: known.isEmpty
            ? "The pipeline has no node that computes a model"
            : "Name one of its models: \(known.joined(separator: ", "))")
      }
      guard found.count == 1 else {
        let nodes = found.map(\.id)
        throw SuiteError(
          "suite.model.severalNodes",
          "several nodes compute '\(model)': \(nodes.joined(separator: ", "))",
          advice: "Say which: --node \(nodes.first ?? "NODE")")
      }
      self = first
    }

    private init(id: String, options: ModelOptions, in pipeline: Pipeline) {
      (self.id, self.options, self.pipeline) = (id, options, pipeline)
    }

    /// The node's pipeline on the session of a job.
    ///
    /// - Throws: Errors of the session and the pipeline when they are connected.
    func replay(_ job: ReplayJob) throws -> Replay { try job.open(pipeline).replay }

    private static func resolved(_ path: String) -> String {
      URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }

    /// The picture that the node receives for a frame.
    ///
    /// - Parameters:
    ///   - item: Which item of the frame, inside a forEach.
    ///   - replay: A replay of the node's pipeline. It runs up to the frame, without costs.
    /// - Throws: `suite.model.notReached`, and what the run throws.
    func picture(of frame: FrameID, item: Int, in replay: Replay) throws -> Frame {
      guard let picture = try replay.input(of: id, for: frame, item: item) as? Frame else {
        let item = id.contains("/") ? item : nil
        throw SuiteError(
          "suite.model.notReached",
          "\(item.map { "the item \($0) of " } ?? "")the frame \(frame) is not given to the node "
            + "'\(id)'",
          advice: "Choose another with --frame\(item == nil ? "" : " or --item")")
      }
      return picture
    }
  }
#endif
