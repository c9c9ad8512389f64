package import Foundation
package import RetakeCompare
import RetakeCore

/// Compares the images that a golden and a run keep, on demand.
struct GoldenImages: ImageMeasure {
  let golden: GoldenFolder
  let actual: GoldenFolder
  let source: any ImageSource

  func difference(sink: String, golden: FrameID, actual: FrameID) -> ImageDifference? {
    guard let mine = pixels(self.golden, sink, golden),
      let theirs = pixels(self.actual, sink, actual)
    else { return nil }
    return ImageDifference(golden: mine, actual: theirs)
  }

  private func pixels(_ folder: GoldenFolder, _ sink: String, _ frame: FrameID) -> ImagePixels? {
    let file = folder.file(GoldenFolder.pictureName(frame, sink: sink))
    // Only one of every `pictureEvery` frames is kept, so a missing file is normal.
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    return source.pixels(of: file)
  }
}
