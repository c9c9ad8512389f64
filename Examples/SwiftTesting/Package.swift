// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "SwiftTestingExample",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "retake", path: "../..")],
  targets: [
    .target(name: "Vision", dependencies: [.product(name: "Retake", package: "retake")]),
    .testTarget(
      name: "VisionTests",
      dependencies: [
        "Vision", .product(name: "RetakeTesting", package: "retake"),
        .product(name: "RetakeXCTest", package: "retake"),
        .product(name: "RetakeClock", package: "retake"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
