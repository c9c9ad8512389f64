package import RetakeBuffers
package import RetakeGraph
package import RetakeMedia

/// The field to keep.
package struct DeinterlaceOptions: StageOptions, Hashable {
  @OptionValue("the field whose rows are kept: 'top' (rows 0, 2, 4) or 'bottom' (1, 3, 5)")
  package var field = VideoField.top

  package init() {}

  package init(field: VideoField) { self.field = field }
}

/// Computes complete frames from one field of interlaced frames.
///
/// The rows of the field are kept. A sample between them is (9 n - f + 8) / 16, rounded down and
/// limited to the format's samples: n is the sum of the samples in the nearest row of the field
/// above and below, and f of those in the second nearest rows. Beyond an edge, the nearest row of
/// the field counts. Each component is computed by itself, with integers. FFmpeg's filter
/// `estdif=mode=frame:ecost=0:mcost=0:dcost=1` returns the same samples: with these costs it follows
/// no edges.
package struct Deinterlace: PureStage {
  package static let kind = "deinterlace"
  package static let summary = "keeps one field of interlaced frames and interpolates the other"
  package static let inputFormats = PixelFormat.allCases

  package let options: DeinterlaceOptions

  package init(options: DeinterlaceOptions) { self.options = options }

  package func process(_ frame: Frame, _ context: StageContext) -> Frame {
    var made = context.makeFrame(like: frame)
    frame.writeDeinterlaced(keeping: options.field, to: &made)
    return made.finish()
  }
}
