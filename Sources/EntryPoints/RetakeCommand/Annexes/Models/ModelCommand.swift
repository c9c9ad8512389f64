#if Models
  import ArgumentParser
  import Retake

  struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "model", abstract: "Show the content of an .onnx file, or run it on one frame.",
      discussion: """
        Examples:
          retake model info faces.onnx
          retake model check faces.onnx clip --frame 12 --output seen.png
        """,
      subcommands: [ModelInfoCommand.self, ModelCheckCommand.self])
  }

  struct ModelInfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "info",
      abstract: "Show a model's inputs, outputs and effective settings.",
      discussion: """
        Each effective setting is printed with its origin: the sidecar (faces.model.json next to
        faces.onnx), the model's metadata, the shape of its input, or the default. For a missing
        setting, the line to write is printed. Without ONNX Runtime, the command cannot check that
        the model runs. With --pipeline, the options of the model's node override the sidecar, as in
        a run.

        Exits with 0 if the file is a model, even if settings are missing; with 2 otherwise.

        Examples:
          retake model info faces.onnx
          retake model info faces.onnx --pipeline faces.json
          retake model info faces.onnx --json
        """)

    @Argument(help: "A model: the path of an .onnx file.")
    var model: String

    @OptionGroup var place: ModelNodeOptions

    @OptionGroup var programs: ProgramBan

    @OptionGroup var output: OutputOptions

    func run() throws {
      let node = try place.node(computing: model, in: programs.project())
      let inspection = try ModelInspection(of: node?.options ?? ModelOptions(model: model))
      if output.json { return try Console.json(inspection) }
      Console.result(ModelText(model: inspection).lines.joined(separator: "\n"))
    }
  }

  /// The node of a pipeline that computes a model.
  struct ModelNodeOptions: ParsableArguments {
    @Option(
      name: [.short, .long],
      help:
        "A pipeline that computes the model: a JSON file, a case of retake.yml, or example:NAME.")
    var pipeline: String?

    @Option(help: "The node that computes it, if several do; in a forEach FOREACH/NODE.")
    var node: String?

    func validate() throws {
      guard node == nil || pipeline != nil else {
        throw ValidationError("--node is a node of a pipeline: name it with --pipeline")
      }
    }

    /// - Returns: `nil` without a pipeline.
    /// - Throws: What the pipeline throws when it is read, `suite.model.noNode`,
    ///   `.severalModelNodes`.
    func node(computing model: String, in project: Project) throws -> ModelNode? {
      try pipeline.map {
        try ModelNode(node, computing: model, in: try project.pipeline($0))
      }
    }

    /// The node's pipeline on a session; `nil` without a pipeline.
    func replay(_ node: ModelNode?, on session: String, in project: Project) throws -> Replay? {
      guard let node, let pipeline else { return nil }
      let definition =
        project.definition(named: pipeline) ?? CaseDefinition(name: "model", pipeline: pipeline)
      var job = ReplayJob(project: project, definition: definition, session: session)
      job.options.isInterrupted = { Interruption.isRequested }
      return try node.replay(job)
    }
  }
#endif
