import Retake
import RetakeCommand

struct BrightPixels: PureStage {
  static let kind = "bright-pixels"
  static let inputFormats: [PixelFormat] = [.gray]

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    Scalars([.init("bright", Double(frame.bytes(of: 0).count { $0 > 200 }))])
  }
}

let pipeline = Pipeline.named("first").source(.session()).gray().stage(BrightPixels()).results()

RetakeCommand.main(stages: { $0.register(BrightPixels.self) }, pipelines: [pipeline])
