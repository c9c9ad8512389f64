import RetakeCore
package import RetakeGraph

extension StageRegistry {
  /// The kinds of stages that compute models in ONNX files.
  package mutating func registerModels() {
    register(Classify.self)
    register(Detect.self)
    register(Infer.self)
    register(Regress.self)
    annexes.places.append { registry, places in
      registry.place(Detect.self, places)
      registry.place(Classify.self, places)
      registry.place(Infer.self, places)
      registry.place(Regress.self, places)
    }
    annexes.models = ModelSupport(
      library: {
        let library = try ModelLibrary.find()
        return .init(version: library.version, path: library.path)
      },
      sidecar: { ModelSidecar.path(ofModel: $0) },
      namesDigest: { ModelSidecar.namesDigest(at: $0) })
  }

  private mutating func place<Stage: PlacedModel>(_ type: Stage.Type, _ places: InputPlaces) {
    replaceNode(Stage.signature) { given in
      let options = try OptionReader.read(ModelOptions.self, from: given, kind: Stage.kind)
      do {
        // An empty path names no file, and the stage reports it.
        let place = options.model.isEmpty ? "" : try places.model(options.model)
        return AnyStage(try Stage(options: options, at: place))
      } catch {
        throw OptionProblem(wrapping: error)
      }
    }
  }
}

/// A stage whose model may be in another place than its document says.
private protocol PlacedModel: PureStage where Options == ModelOptions {
  init(options: ModelOptions, at place: String) throws
}

extension OnnxStage: PlacedModel {}
extension Regress: PlacedModel {}

extension ModelSidecar {
  /// Whether the sidecar at a path names the digest of its model.
  fileprivate static func namesDigest(at path: String) -> Bool {
    guard let data = try? RegularFile.contents(path, bytesMax: Int64(bytesMax)) else {
      return false
    }
    return (try? ModelSidecar(data, path: path))?.sha256 != nil
  }
}
