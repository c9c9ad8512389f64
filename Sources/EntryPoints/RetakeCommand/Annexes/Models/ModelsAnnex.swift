#if Models
  /// Models in ONNX files: their declarations, and their results.
  enum ModelsAnnex: Annex {
    static var commands: [AnnexCommand] {
      [AnnexCommand(parent: Root.self, after: PipelineCommand.self, command: ModelCommand.self)]
    }
  }
#endif
