public import RetakeBuffers
public import RetakeCore
public import RetakeGraph

/// Stages with a model in an ONNX file, as methods. The file is loaded when the method is called.
extension PipelineChain where Output == Frame {
  /// Finds objects in each frame: boxes in pixels of the frame, the best first.
  ///
  /// - Parameter model: The path of an .onnx file; docs/models.md says what may be next to it.
  /// - Throws: `OptionError` for a model that is missing, damaged or not a detector, and on a
  ///   machine without ONNX Runtime.
  public func detect(model: String, id: String? = nil) throws -> PipelineChain<Detections> {
    stage(try Detect(options: ModelOptions(model: model)), id: id)
  }

  /// Names what each frame shows.
  ///
  /// - Parameter model: The path of an .onnx file; docs/models.md says what may be next to it.
  /// - Throws: As `detect(model:id:)`.
  public func classify(model: String, id: String? = nil) throws -> PipelineChain<Classes> {
    stage(try Classify(options: ModelOptions(model: model)), id: id)
  }

  /// Computes numbers from each frame.
  ///
  /// - Parameter model: The path of an .onnx file; docs/models.md says what may be next to it.
  /// - Throws: As `detect(model:id:)`.
  public func infer(model: String, id: String? = nil) throws -> PipelineChain<Scalars> {
    stage(try Infer(options: ModelOptions(model: model)), id: id)
  }
}
