import RetakeCore
package import RetakeGraph
import RetakeInference

/// Where the files are that a document names.
///
/// A golden, a cache and an error name such a file as the document does, wherever it is read.
package struct InputPlaces: Sendable {
  /// The path at which a model is read; its sidecar is next to it.
  package var model: @Sendable (_ path: String) throws -> String = { $0 }
  /// The path at which an image or a folder of images is read; asked when a run begins.
  package var images: @Sendable (_ path: String) throws -> String = { $0 }
  /// Refuses an image of such a folder, which may be a link.
  package var checkImage: @Sendable (_ path: String) throws -> Void = { _ in }
  /// The path at which a tape or a device profile of a case is read.
  package var costs: @Sendable (_ path: String) throws -> String = { $0 }
  /// The folder in which a program runs whose command may name these files; `nil` for the folder of
  /// the command.
  package var program: @Sendable (_ files: [String]) throws -> String? = { _ in nil }

  /// Each file is where the document says, relative to the folder in which the command runs.
  package static let asNamed = InputPlaces()

  private init() {}
}

/// A stage whose model may be in another place than its document says.
private protocol PlacedModel: PureStage where Options == ModelOptions {
  init(options: ModelOptions, at place: String) throws
}

extension OnnxStage: PlacedModel {}
extension Regress: PlacedModel {}

extension StageRegistry {
  /// The same registry, which reads models and images at other places.
  package func reading(_ places: InputPlaces) -> StageRegistry {
    var registry = self
    registry.place(Detect.self, places)
    registry.place(Classify.self, places)
    registry.place(Infer.self, places)
    registry.place(Regress.self, places)
    registry.placeImages(places)
    return registry
  }

  private mutating func place<Stage: PlacedModel>(_ type: Stage.Type, _ places: InputPlaces) {
    replaceNode(Stage.signature) { given in
      let options = try OptionReader.read(ModelOptions.self, from: given, kind: Stage.kind)
      do {
        // Without a path there is nothing to find, and the stage says so.
        let place = options.model.isEmpty ? "" : try places.model(options.model)
        return AnyStage(try Stage(options: options, at: place))
      } catch {
        throw OptionProblem(wrapping: error)
      }
    }
  }

  private mutating func placeImages(_ places: InputPlaces) {
    guard let signature = signature(of: Sources.images.kind) else { return }
    replaceNode(signature) { given in
      let options = try OptionReader.read(ImagesOptions.self, from: given, kind: signature.kind)
      do {
        var source = try ImagesSource(options: options)
        source.places = places
        return AnyStage(
          signature: signature, options: AnyStage.canonical(options), body: .source(source))
      } catch {
        throw OptionProblem(wrapping: error)
      }
    }
  }
}

/// What is next to a model.
package enum ModelPlaces {
  /// The path of a model's sidecar.
  package static func sidecar(ofModel path: String) -> String { ModelSidecar.path(ofModel: path) }

  /// Whether a sidecar names the digest of its model, which is checked when the model is read.
  package static func namesDigest(sidecar path: String) -> Bool {
    guard let data = try? RegularFile.contents(path, bytesMax: Int64(ModelSidecar.bytesMax)) else {
      return false
    }
    return (try? ModelSidecar(data, path: path))?.sha256 != nil
  }
}
