#if Models
  /// Models in ONNX files: what they declare, and what they find.
  enum ModelsAnnex: Annex {
    static var commands: [AnnexCommand] {
      [AnnexCommand(parent: Root.self, after: PipelineCommand.self, command: ModelCommand.self)]
    }
  }
#endif
