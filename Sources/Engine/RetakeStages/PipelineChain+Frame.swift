public import Foundation
public import RetakeBuffers
public import RetakeCore
public import RetakeGraph
public import RetakeMedia

/// The built-in stages as methods. A number that is out of bounds is a programmer's mistake here;
/// it stops the program with a message about the violated rule.
extension PipelineChain where Output == Frame {
  /// Scales each frame to a size in pixels.
  public func downsample(
    width: Int, height: Int, algorithm: ScalingAlgorithm = .area, id: String? = nil
  ) -> PipelineChain<Frame> {
    stage(Downsample.built(.init(width: width, height: height, algorithm: algorithm)), id: id)
  }

  /// Scales each frame, up or down, to the input size of a classifier, in pixels.
  public func resize(
    width: Int = 224, height: Int = 224, algorithm: ScalingAlgorithm = .automatic,
    id: String? = nil
  ) -> PipelineChain<Frame> {
    stage(Resize.built(.init(width: width, height: height, algorithm: algorithm)), id: id)
  }

  /// Cuts a rectangle out of each frame, without copying; see `Crop` for odd offsets.
  public func crop(
    x: Int, y: Int, width: Int, height: Int, id: String? = nil
  ) -> PipelineChain<Frame> {
    stage(Crop.built(.init(x: x, y: y, width: width, height: height)), id: id)
  }

  /// Makes colors of a sensor's raw samples, which sessions keep as gray.
  public func debayer(_ pattern: Mosaic, id: String? = nil) -> PipelineChain<Frame> {
    stage(Debayer.built(.init(pattern: pattern)), id: id)
  }

  /// Keeps one field of interlaced frames, and interpolates the rows between.
  public func deinterlace(
    keeping field: VideoField = .top, id: String? = nil
  ) -> PipelineChain<Frame> {
    stage(Deinterlace(options: .init(field: field)), id: id)
  }

  /// Makes each frame worse: a blur and noise, each with a standard deviation in pixels or levels,
  /// percent of brightness, and the quality of a JPEG image; see docs/stress.md.
  public func perturb(
    blur: Double = 0, brightness: Double = 0, noise: Double = 0, jpeg: Int = 0, seed: Int = 0,
    id: String? = nil
  ) -> PipelineChain<Frame> {
    var options = PerturbOptions()
    (options.blur, options.brightness, options.noise) = (blur, brightness, noise)
    (options.jpeg, options.seed) = (jpeg, seed)
    return stage(Perturb.built(options), id: id)
  }

  /// Turns and mirrors each frame as players show it.
  public func upright(id: String? = nil) -> PipelineChain<Frame> { stage(Upright(), id: id) }

  /// Keeps the luma of each frame as GRAY8.
  public func gray(id: String? = nil) -> PipelineChain<Frame> { stage(Gray(), id: id) }

  /// Converts each frame to a pixel format.
  public func convert(to format: PixelFormat, id: String? = nil) -> PipelineChain<Frame> {
    stage(Convert(options: ConvertOptions(format: format)), id: id)
  }

  /// Measures mean, min, max and standard deviation of the luma.
  public func luminance(id: String? = nil) -> PipelineChain<Scalars> {
    stage(Luminance(), id: id)
  }

  /// Measures mean red, green and blue in the middle of each frame.
  public func fingertip(percent: Int = 50, id: String? = nil) -> PipelineChain<Scalars> {
    stage(Fingertip.built(.init(percent: percent)), id: id)
  }

  /// Returns the colors of a palette that are nearest to the mean of each frame.
  ///
  /// - Parameters:
  ///   - palette: Black, white, gray, and the six fully saturated colors if `nil`.
  ///   - top: How many colors to return, nearest first; 1 to 256.
  ///   - id: The node's ID; by default the kind, with a number from the second node of a kind on.
  public func meanColor(
    palette: [NamedColor]? = nil, top: Int = 3, id: String? = nil
  ) -> PipelineChain<Classes> {
    stage(MeanColor.built(.init(palette: palette ?? MeanColor.cube, top: top)), id: id)
  }

  /// Computes the digest of each frame.
  public func digest(id: String? = nil) -> PipelineChain<FrameDigest> {
    stage(FrameDigester(), id: id)
  }

  /// Finds moving regions by the difference from the previous frame.
  public func motion(threshold: Int = 24, id: String? = nil) -> PipelineChain<Detections> {
    motion(options: MotionOptions(threshold: threshold), id: id)
  }

  /// Finds moving regions by the difference from the previous frame, with all options.
  public func motion(options: MotionOptions, id: String? = nil) -> PipelineChain<Detections> {
    stage(built { try Motion(options: options) }, id: id)
  }

  /// Returns the detections that a file has for each frame, in place of a detector.
  ///
  /// - Parameters:
  ///   - file: Results of Retake, MOTChallenge text or COCO JSON; docs/stored-detections.md
  ///     describes the formats.
  ///   - firstFrame: Of MOT and COCO, the file's number of the session's frame 0; `nil` = 1 for
  ///     MOT, and for COCO the order of its images.
  ///   - sink: Of results of Retake, the ID of the sink; `nil` if there is one.
  ///   - id: The node's ID; by default the kind, with a number from the second node of a kind on.
  /// - Throws: `OptionError` for an option that does not fit the format, and an error that names
  ///   the line of a file that cannot be read.
  public func detections(
    file: String, firstFrame: Int? = nil, sink: String? = nil, id: String? = nil
  ) throws -> PipelineChain<Detections> {
    var options = StoredOptions(file: file)
    options.firstFrame = firstFrame ?? options.firstFrame
    options.sink = sink ?? options.sink
    return stage(try StoredDetections(options: options), id: id)
  }
}

extension PipelineChain where Output == Frame {
  /// Changes each frame: `.transform(.resize(to: CGSize(width: 224, height: 224)))`.
  ///
  /// - Parameters:
  ///   - stage: A stage from frames to frames; with another stage, the process ends.
  ///   - id: The node's ID; by default the kind, with a number from the second node of a kind on.
  public func transform(_ stage: AnyStage, id: String? = nil) -> PipelineChain<Frame> {
    let signature = stage.signature
    requirement(
      [.pure, .stateful].contains(signature.role) && signature.input == .frame
        && signature.output == .frame,
      "a transform takes frames and returns frames, and '\(signature.kind)' does not")
    return appending(stage, id: id)
  }
}

extension AnyStage {
  /// Scales each frame to a size in integer pixels, for `PipelineChain.transform(_:id:)`.
  public static func downsample(to size: CGSize) -> AnyStage {
    let (width, height) = pixels(of: size)
    return AnyStage(Downsample.built(.init(width: width, height: height)))
  }

  /// Scales each frame, up or down, to a size in integer pixels, for
  /// `PipelineChain.transform(_:id:)`.
  public static func resize(to size: CGSize) -> AnyStage {
    let (width, height) = pixels(of: size)
    return AnyStage(Resize.built(.init(width: width, height: height)))
  }

  private static func pixels(of size: CGSize) -> (width: Int, height: Int) {
    guard let width = Int(exactly: Double(size.width)),
      let height = Int(exactly: Double(size.height))
    else { requirementFailure("a size is in whole pixels, and this is \(size)") }
    return (width, height)
  }
}

extension PipelineChain where Output == Region {
  /// `regionCrop(padding:id:)` under the name of the `crop` that cuts frames.
  public func crop(padding: Double, id: String? = nil) -> PipelineChain<Frame> {
    regionCrop(padding: padding, id: id)
  }

  /// Cuts each detection's region out of its frame; see `RegionCrop` for the edges.
  ///
  /// - Parameters:
  ///   - padding: Fraction of the box's width and height that is added on each side; 0 to 4.
  ///   - id: The node's ID; by default the kind, with a number from the second node of a kind on.
  public func regionCrop(padding: Double = 0.2, id: String? = nil) -> PipelineChain<Frame> {
    stage(RegionCrop.built(.init(padding: padding)), id: id)
  }
}

extension PipelineChain where Output == Joined {
  /// The mean score of each label over the results of several classifiers.
  public func meanClasses(top: Int = 5, id: String? = nil) -> PipelineChain<Classes> {
    stage(MeanClasses.built(.init(top: top)), id: id)
  }

  /// The results of several detectors, each object once.
  public func mergeDetections(
    iou: Double = 0.5, perClass: Bool = true, classNames: [String] = [], id: String? = nil
  ) -> PipelineChain<Detections> {
    stage(
      MergeDetections.built(.init(iou: iou, perClass: perClass, classNames: classNames)), id: id)
  }

  /// The numbers of several stages, each called `PORT.NAME`.
  public func mergeScalars(id: String? = nil) -> PipelineChain<Scalars> {
    stage(MergeScalars(), id: id)
  }
}
