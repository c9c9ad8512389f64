package import Foundation
package import RetakeCompare
import RetakeGolden
import RetakeGraph
import RetakeMedia
import RetakeRuntime
import RetakeStages

extension ImagePixels {
  /// Reads an image that a golden keeps; `nil` without a file, and for a file that is not an image.
  package init?(kept file: URL) {
    // Only one of every `pictureEvery` frames is kept, so a missing file is normal.
    guard FileManager.default.fileExists(atPath: file.path),
      let frame = try? MediaImage.read(file: file.path)
    else { return nil }
    let channels: Int
    switch frame.format {
    case .gray: channels = 1
    case .rgb: channels = 3
    case .rgba: channels = 4
    // No run has written such a file: kept images have 8 bits in one of these forms.
    default: return nil
    }
    var planes = [[UInt8]](repeating: [], count: channels)
    for plane in planes.indices { planes[plane].reserveCapacity(frame.width * frame.height) }
    frame.forEachRow(of: 0) { row in
      for plane in planes.indices {
        for column in 0..<frame.width { planes[plane].append(row[column * channels + plane]) }
      }
    }
    self.init(width: frame.width, height: frame.height, planes: planes)
  }
}

extension GoldenComparator.Options {
  /// Options that compare pixels where a rule asks for it, and that know the built-in stages.
  static var withImages: GoldenComparator.Options {
    var options = GoldenComparator.Options()
    options.pixels = { ImagePixels(kept: $0) }
    options.builtInKinds = StageRegistry.builtInKinds.union([AnyStage.forEachKind])
    return options
  }

  /// These options for a comparison that an end of the run interrupts.
  func interrupted(by isInterrupted: (@Sendable () -> Bool)?) -> GoldenComparator.Options {
    var options = self
    options.checkInterruption = {
      if isInterrupted?() == true { throw RuntimeError.interrupted }
    }
    return options
  }
}
