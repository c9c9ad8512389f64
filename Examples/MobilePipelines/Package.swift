// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "MobilePipelinesExample",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "retake", path: "../..")],
  targets: [
    .testTarget(
      name: "MobilePipelinesTests",
      dependencies: [
        .product(name: "Retake", package: "retake"),
        .product(name: "RetakePreview", package: "retake"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
