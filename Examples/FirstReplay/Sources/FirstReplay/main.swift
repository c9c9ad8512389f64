import Retake
import RetakeCommand

/// Counts the bright pixels of each frame: a stage of one's own.
struct BrightPixels: PureStage {
  static let kind = "bright-pixels"
  static let inputFormats: [PixelFormat] = [.grey]
  struct Options: StageOptions { var threshold = 200 }
  let options: Options

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    let count = frame.bytes(of: 0).count { $0 > options.threshold }
    return Scalars([.init("bright", Double(count))])
  }
}

let pipeline = Pipeline.named("first-replay").source(.session()).grey()
  .stage(BrightPixels(options: .init())).results()

RetakeCommand.main(stages: { $0.register(BrightPixels.self) }, pipelines: [pipeline])
