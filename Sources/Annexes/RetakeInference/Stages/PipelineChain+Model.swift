public import RetakeBuffers
public import RetakeCore
public import RetakeGraph
import RetakeStages

/// Stages with a model in an ONNX file, as methods. The file is loaded when the method is called.
extension PipelineChain where Output == Frame {
  /// Finds objects in each frame: boxes in pixels of the frame, the best first.
  ///
  /// - Parameters:
  ///   - target: The detections to keep; `nil` = all classes.
  ///   - model: The path of an .onnx file; docs/models.md describes the sidecar next to it.
  ///   - id: The node's ID; by default the kind, with a number from the second node of a kind on.
  /// - Throws: `OptionError` for a model that is missing, damaged, not a detector or without a
  ///   class of the target, and on a machine without ONNX Runtime.
  public func detect(
    _ target: DetectionTarget? = nil, model: String, id: String? = nil
  ) throws -> PipelineChain<Detections> {
    stage(try Detect(options: ModelOptions(model: model, target: target)), id: id)
  }

  /// Classifies each frame.
  ///
  /// - Parameter model: The path of an .onnx file; docs/models.md describes the sidecar next to it.
  /// - Throws: As `detect(_:model:id:)`.
  public func classify(model: String, id: String? = nil) throws -> PipelineChain<Classes> {
    stage(try Classify(options: ModelOptions(model: model)), id: id)
  }

  /// Computes numbers from each frame.
  ///
  /// - Parameter model: The path of an .onnx file; docs/models.md describes the sidecar next to it.
  /// - Throws: As `detect(_:model:id:)`.
  public func infer(model: String, id: String? = nil) throws -> PipelineChain<Scalars> {
    stage(try Infer(options: ModelOptions(model: model)), id: id)
  }
}

extension PipelineChain where Output == Scalars {
  /// Computes numbers from numbers, for example from the scalars of `heartVariability`.
  ///
  /// - Parameters:
  ///   - model: The path of an .onnx file; docs/models.md describes the sidecar next to it.
  ///   - features: The names of the numbers that the model reads, in its order; `nil` = the names
  ///     in the model's sidecar.
  ///   - id: The node's ID; by default the kind, with a number from the second node of a kind on.
  /// - Throws: `OptionError` for a model that is missing, damaged or reads something else, and on a
  ///   machine without ONNX Runtime.
  public func regress(
    model: String, features: [String]? = nil, id: String? = nil
  ) throws -> PipelineChain<Scalars> {
    var options = ModelOptions(model: model)
    if let features {
      options.input = .object(["features": .array(features.map(JSONValue.string))])
    }
    return stage(try Regress(options: options), id: id)
  }
}

extension PipelineChain where Output == Detections {
  /// Classifies each detection: a `forEach` over the detections' regions, each with a fifth of its
  /// width and height on every side.
  ///
  /// - Parameters:
  ///   - model: The path of an .onnx file; docs/models.md describes the sidecar next to it.
  ///   - id: The forEach's ID; by default `forEach`.
  /// - Throws: As `detect(_:model:id:)`.
  public func classify(model: String, id: String? = nil) throws -> PipelineChain<Detections> {
    try forEach(id: id) { region in try region.regionCrop().classify(model: model) }
  }
}
