package import RetakeGraph

extension StageRegistry {
  /// The same registry, which reads images, detections and the files of annexes at other places.
  package func reading(_ places: InputPlaces) -> StageRegistry {
    var registry = self
    for place in annexes.places { place(&registry, places) }
    registry.placeImages(places)
    registry.placeDetections(places)
    return registry
  }

  private mutating func placeDetections(_ places: InputPlaces) {
    replaceNode(StoredDetections.signature) { given in
      let kind = StoredDetections.kind
      let options = try OptionReader.read(StoredOptions.self, from: given, kind: kind)
      do {
        return AnyStage(try StoredDetections(options: options, at: places.detections))
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
