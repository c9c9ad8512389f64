import Foundation
import RetakeCore
package import RetakeGraph

extension InputPlaces {
  /// Images, detections, timings and profiles are read from the path in the document, but only
  /// inside a folder: a report shows their content, and a pipeline may come from someone else.
  package static func inside(_ folder: String) -> InputPlaces {
    var places = InputPlaces.asNamed
    places.images = { path in
      try requireInside(folder, path)
      return path
    }
    places.checkImage = { try requireInside(folder, $0) }
    places.costs = { path in
      try requireInside(folder, path)
      return path
    }
    places.detections = places.costs
    return places
  }

  /// - Throws: `suite.input.outside` for a path that leads out of the folder, by itself or through
  ///   a link.
  static func requireInside(_ folder: String, _ path: String) throws {
    let named = URL(fileURLWithPath: path.hasPrefix("/") ? path : "\(folder)/\(path)")
    let own = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
    // As the kernel resolves it: `..` after a link leads to another folder than the text suggests.
    let real = OwnFolder.realPath(named.path) ?? named.standardizedFileURL.path
    guard real != own, !real.hasPrefix(own == "/" ? own : own + "/") else { return }
    throw SuiteError(
      "suite.input.outside",
      "'\(path)' is not in the project, and a pipeline reads no images, detections and costs elsewhere",
      at: folder,
      advice: "Put it into the project, or if you trust the project, add to the command: "
        + "--allow-outside")
  }
}
