package import Foundation
package import RetakeCompare
import RetakeCore

/// Reads the pixels of a kept image.
package protocol PictureSource: Sendable {
  /// `nil` for a file that is not an image.
  func pixels(of file: URL) -> PicturePixels?
}

/// Compares the images that a golden and a run keep, on demand.
struct GoldenPictures: ImageMeasure {
  let golden: GoldenFolder
  let actual: GoldenFolder
  let source: any PictureSource

  func difference(sink: String, golden: FrameID, actual: FrameID) -> PictureDifference? {
    guard let mine = pixels(self.golden, sink, golden),
      let theirs = pixels(self.actual, sink, actual)
    else { return nil }
    return PictureDifference(golden: mine, actual: theirs)
  }

  private func pixels(_ folder: GoldenFolder, _ sink: String, _ frame: FrameID) -> PicturePixels? {
    let file = folder.file(GoldenFolder.pictureName(frame, sink: sink))
    // Only one of every `pictureEvery` frames is kept, so a missing file is normal.
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    return source.pixels(of: file)
  }
}
