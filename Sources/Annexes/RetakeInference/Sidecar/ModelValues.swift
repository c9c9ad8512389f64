/// The values of one source for a model; `nil` where the source has no value.
///
/// A node's options, a sidecar and the model's metadata each make one `ModelValues`, and
/// `ModelSettings` decides which value is in force.
package struct ModelValues: Hashable, Sendable {
  /// The name of the input that the frame becomes.
  package var inputName: String?
  package var layout: TensorLayout?
  /// Width, then height, in pixels of the input.
  package var size: PixelSize?
  package var resizeType: ResizeType?
  package var padValue: UInt8?
  package var meanValues: [Float]?
  package var scaleValues: [Float]?
  package var colorSpace: ColorSpace?
  package var interpolation: Interpolation?
  /// The names of the numbers that the model reads instead of a picture.
  package var features: [String]?

  package var decoder: DecoderName?
  /// Labels of the classes that are kept.
  package var classes: [String]?
  package var confidenceThreshold: Double?
  package var iouThreshold: Double?
  package var maxDetections: Int?
  package var isClassAgnostic: Bool?
  package var topK: Int?
  package var strides: [Int]?
  package var pixelThreshold: Double?
  package var unclipRatio: Double?
  package var usesDilation: Bool?
  package var labels: [String]?

  package init() {}
}
