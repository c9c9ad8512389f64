#if Models
  import ArgumentParser
  import Retake

  struct ModelCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Run a model on one frame and show its input, output and likely mistakes.",
      discussion: """
        The frame belongs to a session, or is a PNG or JPEG image. --output writes the model's input
        image: scaled and padded, before mean and scale. Each time is the shortest of
        \(ModelTrial.runs) runs, on one thread.

        With --pipeline, the model's input is the image that the upstream stages compute for that
        frame, such as a crop, and the model has the options of its node.

        Exits with 0 if the model could be run, even if there are warnings; with 2 otherwise.

        Examples:
          retake model check faces.onnx clip --frame 12 --output seen.png
          retake model check mood.onnx clip --frame 12 --pipeline faces.json --item 1
          retake model check faces.onnx portrait.jpg --json
        """)

    @Argument(help: "A model: the path of an .onnx file.")
    var model: String

    @Argument(help: "A session: its name in Recordings, or its folder; or a PNG or JPEG image.")
    var input: String

    @Option(help: "The frame of the session: its number, or TRACK:NUMBER; the first if not given.")
    var frame: String?

    @OptionGroup var place: ModelNodeOptions

    @Option(
      parsing: .unconditional,
      help: "Which item of the frame, for a node in a forEach; 0, the first, if not given.",
      transform: Bounded.whole(0...100_000))
    var item: Int?

    @Option(help: "Write the model's input image to this PNG file.")
    var output: String?

    @OptionGroup var programs: ProgramBan

    @OptionGroup var options: OutputOptions

    func validate() throws {
      if let frame, FrameArgument.parse(frame) == nil {
        throw ValidationError(
          "'--frame \(frame)' is not the number of a frame: write it like 12, or 0:12 with its track"
        )
      }
      guard item == nil || place.pipeline != nil else {
        throw ValidationError("--item is one of a forEach in a pipeline: name it with --pipeline")
      }
      guard let output else { return }
      guard RunOutputs.isFile(output), output.lowercased().hasSuffix(".png") else {
        throw ValidationError("'--output \(output)' is not a file whose name ends in .png")
      }
      guard output != input else {
        throw ValidationError("--output is the image that is read; name another file")
      }
    }

    func run() throws {
      let project = try programs.project()
      let node = try place.node(computing: model, in: project)
      let frame = try readFrame(project, node)
      let trial = try ModelTrial(node?.options ?? ModelOptions(model: model), frame: frame)
      // Before the model is computed: if that fails, the picture may say why.
      if let output {
        try WholeFile.write(
          bytes: try MediaImage.png(trial.picture), to: output, output: .image)
      }
      let report = try trial.run()
      if options.json {
        try Console.json(ModelCheckDocument(model: model, input: input, seen: output, report))
      } else {
        Console.result(ModelCheckText(report: report).lines.joined(separator: "\n"))
        report.suspicions.forEach { Console.warning($0) }
        if let output { options.note("the model's input image is in \(output)") }
      }
    }

    private func readFrame(_ project: Project, _ node: ModelNode?) throws -> Frame {
      let isImage = WholeFile.type(of: input) == .typeRegular
      let session = isImage ? nil : try project.sessionPath(input)
      if let output {
        try RunOutputs.check(
          file: output, session: session,
          pipeline: place.pipeline.flatMap { project.pipelineFile(of: $0) })
      }
      guard let session else {
        guard frame == nil, item == nil else {
          throw ValidationError(
            "--\(frame == nil ? "item" : "frame") goes with a session, and '\(visible(input))' is "
              + "a file")
        }
        return try MediaImage.read(file: input)
      }
      let place = frame.flatMap(FrameArgument.parse) ?? FrameArgument(track: nil, sequence: 0)
      let reader = try SessionReader(opening: session)
      let replay = try self.place.replay(node, on: session, in: project)
      let track = place.track ?? replay?.tracks.values.min() ?? reader.tracks.first?.track ?? 0
      let id = FrameID(track: track, sequence: place.sequence)
      // Also with a pipeline: it says whether the frame exists.
      let whole = try reader.frame(id)
      guard let node, let replay else { return whole }
      return try node.picture(of: id, item: item ?? 0, in: replay)
    }
  }

  /// A frame as users write it: `12`, or `0:12` with its track.
  struct FrameArgument: Hashable {
    var track: Int?
    var sequence: Int

    static func parse(_ text: String) -> FrameArgument? {
      let parts = text.split(separator: ":", omittingEmptySubsequences: false)
      let numbers = parts.compactMap { part in
        // Int would also accept a sign.
        part.allSatisfy { $0.isASCII && $0.isNumber } ? Int(part) : nil
      }
      guard (1...2).contains(parts.count), numbers.count == parts.count else { return nil }
      return FrameArgument(
        track: numbers.count == 2 ? numbers[0] : nil, sequence: numbers[numbers.count - 1])
    }
  }
#endif
