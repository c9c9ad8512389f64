/// The options of decoders. Each decoder reads only some of the options.
package struct DecoderSettings: Hashable, Sendable {
  /// Pixels of the model's input.
  package var width: Int
  package var height: Int
  /// Names of classes, or the characters of a text model. May be empty.
  package var labels: [String] = []
  /// The labels of the classes that are kept; empty for all.
  package var classes: [String] = []
  /// A score must be above it.
  package var confidenceThreshold: Double = 0.5
  /// A box is removed if its intersection over union with a better one is above it.
  package var iouThreshold: Double = 0.5
  package var maxDetections = 300
  /// Whether boxes of different classes remove each other.
  package var isClassAgnostic = false
  /// How many labels of a frame are kept.
  package var topK = 5
  /// Pixels of the input from a cell to the next, for each layer; empty for the decoder's own.
  package var strides: [Int] = []
  /// The level of a probability map above which a pixel is text.
  package var pixelThreshold: Double = 0.3
  /// How far a text box grows: area × ratio / perimeter.
  package var unclipRatio: Double = 1.6
  /// Whether text grows by a pixel to the right and below before it is taken apart.
  package var usesDilation = false

  package init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
  }

  /// The name of a class, or its number if it has no name.
  func label(_ index: Int) -> String {
    labels.indices.contains(index) ? labels[index] : String(index)
  }
}
