import Foundation
package import RetakeBuffers
package import RetakeCore
import RetakeMedia

/// Facts about one image, from decoding a track in order.
package struct DecodedFact: Hashable, Sendable {
  /// The shape of images; a different shape begins another segment.
  package struct Shape: Hashable, Sendable {
    package var width: Int
    package var height: Int
    package var format: PixelFormat
    /// The labels in the pictures themselves that say how to show them; nil for pictures that only
    /// the container describes.
    package var labels: Labels?

    package init(width: Int, height: Int, format: PixelFormat, labels: Labels? = nil) {
      (self.width, self.height, self.format) = (width, height, format)
      self.labels = labels
    }
  }

  /// How the samples of an image are shown.
  package struct Labels: Hashable, Sendable {
    package var aspect: SampleAspect
    package var range: ColorRange
    package var matrix: ColorMatrix

    package init(_ frame: Frame) {
      (aspect, range, matrix) = (frame.sampleAspect, frame.range, frame.matrix)
    }
  }

  var packet: Int
  /// Number of images that the packet gave before this one.
  var shown: Int
  /// The last packet that the decoder had received when it returned the image.
  var through: Int
  package var pts: Int64?
  package var bestEffort: Int64?
  /// In units of the time base; 0 when unknown.
  var duration: Int64
  /// Digest of the visible bytes.
  package var digest: Digest128
  /// Why the pixels cannot be trusted.
  var damage: String?
  package var shape: Shape

  package init(
    packet: Int, shown: Int, through: Int? = nil, pts: Int64?, bestEffort: Int64?, duration: Int64,
    digest: Digest128, damage: String? = nil, shape: Shape
  ) {
    self.packet = packet
    self.shown = shown
    self.through = through ?? packet
    self.pts = pts
    self.bestEffort = bestEffort
    self.duration = duration
    self.digest = digest
    self.damage = damage
    self.shape = shape
  }

  init(_ decoded: DecodedFrame, shown: Int, through: Int) {
    packet = decoded.packetIndex
    self.shown = shown
    self.through = through
    pts = decoded.pts
    bestEffort = decoded.bestEffortTimestamp
    duration = decoded.duration
    digest = decoded.frame.pixelDigest
    damage = decoded.isDamaged ? FrameCause.damaged : nil
    shape = Shape(
      width: decoded.frame.width, height: decoded.frame.height, format: decoded.frame.format,
      labels: Labels(decoded.frame))
  }
}
