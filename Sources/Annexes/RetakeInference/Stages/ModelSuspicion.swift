package import RetakeCore

/// Something about a model on a frame that is allowed and probably not meant.
package enum ModelSuspicion: RetakeError, Hashable {
  /// No source declares the range of the model's numbers, and it reads levels of 0 to 255.
  case unscaled(largest: Double)
  /// Means and scales of levels from 0 to 1.
  case fractions(smallest: Double, largest: Double)
  /// All numbers are nearly 0.
  case tiny(largest: Double)
  /// An input of integers, whose numbers were made small before they were rounded.
  case rounded(values: Int)
  case distorted(frame: String, input: String)
  /// The frame has one color.
  case flat
  /// All numbers of an output are the same.
  case constant(output: String, value: Double)
  /// No score is above the threshold.
  case nothing(threshold: Double, best: Double?)
  /// A score that is not 0 to 1.
  case score(label: String, Double)
  /// There are as many detections as are kept.
  case full(count: Int)

  private static let sidecar = "in the model's sidecar"

  package var facts: ErrorFacts {
    switch self {
    case .unscaled(let largest):
      ErrorFacts(
        "models.check.unscaled",
        "the model's input has numbers up to \(largest.short), and no setting confirms this range",
        advice: "If it was trained on 0 to 1, write \"input\": {\"scale_values\": [255]} "
          + "\(Self.sidecar); if on 0 to 255, \"input\": {\"scale_values\": [1]}")
    case .fractions(let smallest, let largest):
      ErrorFacts(
        "models.check.fractions",
        "'mean_values' and 'scale_values' are for levels from 0 to 1, but levels are 0 to 255: "
          + "the model's input is \(smallest.short) to \(largest.short)",
        advice: "Multiply both by 255 \(Self.sidecar)")
    case .tiny(let largest):
      ErrorFacts(
        "models.check.tiny",
        "no number of the model's input is further from 0 than \(largest.short)",
        advice: "Check 'scale_values' \(Self.sidecar): levels are 0 to 255 and divided by it once")
    case .rounded(let values):
      ErrorFacts(
        "models.check.rounded",
        "the model reads integers, and the frame's levels become \(values) of them",
        advice: "Remove 'mean_values' and 'scale_values' \(Self.sidecar)")
    case .distorted(let frame, let input):
      ErrorFacts(
        "models.check.distorted",
        "the frame of \(frame) is distorted to \(input), and no setting asks for it",
        advice: "Write \"input\": {\"resize_type\": \"fit_to_window_letterbox\"} \(Self.sidecar); "
          + "if it is meant, \"standard\"")
    case .flat:
      ErrorFacts(
        "models.check.flat", "all pixels of the model's input image have one color",
        advice: "Choose another frame with --frame")
    case .constant(let output, let value):
      ErrorFacts(
        "models.check.constant",
        "all numbers of the output '\(output.shortened)' are \(value.short)",
        advice: "Look at the model's input with --output FILE, and check 'mean_values' and "
          + "'scale_values' \(Self.sidecar)")
    case .nothing(let threshold, let best):
      ErrorFacts(
        "models.check.nothing",
        best.map { "no score is above \(threshold.short); the best score is \($0.short)" }
          ?? "no score is above 0",
        advice: best == nil
          ? "Look at the model's input with --output FILE, and check 'mean_values', "
            + "'scale_values' and 'color_space' \(Self.sidecar)"
          : "If that result is right, lower 'confidence_threshold' \(Self.sidecar)")
    case .score(let label, let score):
      ErrorFacts(
        "models.check.score", "the score of '\(label.shortened)' is \(score.short), not 0 to 1",
        advice: "Choose a decoder that makes scores of the model's numbers, such as 'softmax' or "
          + "'sigmoid-multilabel'")
    case .full(let count):
      ErrorFacts(
        "models.check.full", "the number of detections reached the limit of \(count)",
        advice: "If they are not objects, raise 'confidence_threshold', or check 'mean_values' "
          + "and 'scale_values' \(Self.sidecar)")
    }
  }
}

extension Double {
  /// At most four decimals.
  package var short: String { "\((self * 10_000).rounded(.toNearestOrEven) / 10_000)" }
}
