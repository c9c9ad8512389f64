import RetakeGraph

/// The package that `retake init --swift` writes.
enum SwiftStart {
  static let files = [
    (name: "Sources/main.swift", text: main), (name: "Sources/BrightPixels.swift", text: stage),
    (name: "Package.swift", text: manifest),
  ]

  /// Lines of `.gitignore`: the program, and the folder of SwiftPM.
  static let ignored = ["/\(StageBuild.programName)", ".build/"]

  /// A pipeline with the name of the package's pipeline.
  static let pipeline = Pipeline.named("bright").source(.session()).gray().results()

  private static let main = """
    import Retake
    import RetakeCommand

    let pipeline = Pipeline.named("\(pipeline.name)")
      .source(.session()).gray().stage(BrightPixels()).results()

    // A complete `retake`, with the stages and pipelines of this folder.
    RetakeCommand.main(stages: { $0.register(BrightPixels.self) }, pipelines: [pipeline])

    """

  private static let stage = """
    import Retake

    struct BrightPixels: PureStage {
      static let kind = "bright-pixels"
      static let inputFormats: [PixelFormat] = [.gray]

      func process(_ frame: Frame, _ context: StageContext) -> Scalars {
        Scalars([.init("bright", Double(frame.bytes(of: 0).count { $0 > 200 }))])
      }
    }

    """

  private static let manifest = """
    // swift-tools-version:6.2
    // For editors and `retake build --source`; `retake build` alone does not read this file.
    import PackageDescription

    /// A folder with Retake's source.
    let source = Context.environment["\(StageBuild.sourceVariable)"] ?? "../retake"

    let package = Package(
      name: "\(StageBuild.productName)",
      platforms: [.macOS(.v15)],
      dependencies: [.package(name: "retake", path: source)],
      targets: [
        .executableTarget(
          name: "\(StageBuild.productName)",
          dependencies: [
            .product(name: "Retake", package: "retake"),
            .product(name: "RetakeCommand", package: "retake"),
          ],
          path: "Sources")
      ],
      swiftLanguageModes: [.v6]
    )

    """
}
