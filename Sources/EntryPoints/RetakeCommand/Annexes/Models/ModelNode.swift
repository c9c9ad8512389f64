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
    /// - Throws: `SuiteError.noModelNode`, `.severalModelNodes`.
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
        throw SuiteError.noModelNode(
          id, model: model, pipeline: pipeline.name,
          known: nodes.map { "\($0.id) (\($0.options.model))" })
      }
      guard found.count == 1 else {
        throw SuiteError.severalModelNodes(found.map(\.id), model: model)
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
    /// - Throws: `SuiteError.notReached`, and errors of the run.
    func picture(of frame: FrameID, item: Int, in replay: Replay) throws -> Frame {
      guard let picture = try replay.input(of: id, for: frame, item: item) as? Frame else {
        throw SuiteError.notReached(id, frame: frame, item: id.contains("/") ? item : nil)
      }
      return picture
    }
  }
#endif
