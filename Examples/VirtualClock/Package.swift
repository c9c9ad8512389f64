// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "VirtualClockExample",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "retake", path: "../..")],
  targets: [
    .target(name: "CameraModel"),
    .testTarget(
      name: "CameraModelTests",
      dependencies: ["CameraModel", .product(name: "RetakeClock", package: "retake")],
      exclude: ["trace.txt"]),
  ],
  swiftLanguageModes: [.v6]
)
