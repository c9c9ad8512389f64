// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "FirstReplay",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "retake", path: "../..")],
  targets: [
    .executableTarget(
      name: "first-replay",
      dependencies: [
        .product(name: "Retake", package: "retake"),
        .product(name: "RetakeCommand", package: "retake"),
      ],
      path: "Sources/FirstReplay")
  ],
  swiftLanguageModes: [.v6]
)
