import RetakeBuffers

/// The OpenGL programs that draw an image, in the GLSL that OpenGL 2.1 and OpenGL ES share.
struct ImageShader: Hashable, Sendable {
  /// The textures of an image, and their samples.
  enum Samples: String, Hashable, Sendable, CaseIterable {
    /// Luma, Cb and Cr in a texture each.
    case planar
    /// Luma, and Cb and Cr together.
    case semiPlanar
    /// Luma alone.
    case gray
    case rgb
    /// The same with red and blue exchanged: memory has blue first.
    case bgr

    init(_ format: PixelFormat) {
      switch format {
      case .i420, .i422, .i444: self = .planar
      case .nv12: self = .semiPlanar
      case .gray: self = .gray
      case .bgra: self = .bgr
      // RGB24 and RGBA; all others are converted before.
      default: self = .rgb
      }
    }

    fileprivate var code: String {
      let samples =
        switch self {
        case .planar:
          "texture2D(plane0, at).r, texture2D(plane1, at).r, texture2D(plane2, at).r"
        case .semiPlanar: "texture2D(plane0, at).r, texture2D(plane1, at).ra"
        case .gray: "texture2D(plane0, at).r, zero.yz"
        case .rgb: "texture2D(plane0, at).rgb"
        case .bgr: "texture2D(plane0, at).bgr"
        }
      return self == .rgb || self == .bgr
        ? """
        vec3 rgbAt(vec2 at) { return vec3(\(samples)); }
        vec3 ycbcrAt(vec2 at) {
          vec3 rgb = rgbAt(at);
          float y = dot(rgb, vec3(0.2126, 0.7152, 0.0722));
          return vec3(y, (rgb.b - y) / 1.8556 + 0.5, (rgb.r - y) / 1.5748 + 0.5);
        }
        """
        : """
        vec3 ycbcrAt(vec2 at) { return vec3(\(samples)); }
        vec3 rgbAt(vec2 at) {
          return clamp(rgbFromSamples * (ycbcrAt(at) - zero), 0.0, 1.0);
        }
        """
    }
  }

  let samples: Samples
  /// Written as constants: a processor that runs the shader then needs a sixth less time.
  let conversion: YCbCrConversion
  /// Code with a function `vec3 grade(vec3 rgb, vec2 at)`; `nil` leaves the colors.
  let grading: String?

  static let vertex = """
    attribute vec2 place;
    attribute vec2 inTexture;
    uniform vec2 canvas;
    varying vec2 textureAt;
    void main() {
      textureAt = inTexture;
      gl_Position = vec4(place.x / canvas.x * 2.0 - 1.0, 1.0 - place.y / canvas.y * 2.0, 0.0, 1.0);
    }
    """

  /// OpenGL ES has no default precision here, and 10 bits would not be enough for a place.
  static let precision = """
    #ifdef GL_ES
    precision highp float;
    precision highp sampler2D;
    #endif

    """

  /// A fragment shader of one color.
  static let fill =
    precision + """
      uniform vec4 color;
      void main() { gl_FragColor = color; }
      """

  /// A fragment shader of one color where the texture has letters.
  static let letters =
    precision + """
      varying vec2 textureAt;
      uniform sampler2D plane0;
      uniform vec4 color;
      void main() { gl_FragColor = vec4(color.rgb, color.a * texture2D(plane0, textureAt).r); }
      """

  /// The code before the grading.
  private var head: String {
    Self.precision + """
      varying vec2 textureAt;
      uniform sampler2D plane0, plane1, plane2;
      uniform vec2 pictureSize;
      uniform float seconds;
      const vec3 zero = vec3(\(Self.list(conversion.zero)));
      const mat3 rgbFromSamples = mat3(\(Self.list(conversion.matrix)));

      """ + samples.code + "\n"
  }

  private static func list(_ numbers: [Float]) -> String {
    numbers.map { "\($0)" }.joined(separator: ", ")
  }

  /// The lines before the first line of the grading.
  var linesBefore: Int { head.count { $0 == "\n" } }

  var fragment: String {
    guard let grading else {
      return head + "void main() { gl_FragColor = vec4(rgbAt(textureAt), 1.0); }\n"
    }
    return head + grading
      + "\nvoid main() { gl_FragColor = vec4(grade(rgbAt(textureAt), textureAt), 1.0); }\n"
  }

  /// The line of the grading in a compiler's message, from 1; `nil` if the message names no line,
  /// or a line of Retake's code.
  ///
  /// Drivers write `0:12(3): error: …`, `0(12) : error …` or `ERROR: 0:12: …`.
  func line(of message: String) -> Int? {
    guard let grading,
      let match = message.firstMatch(of: /\b0(?::(?<colon>\d+)|\((?<bracket>\d+)\))/),
      let number = (match.colon ?? match.bracket).flatMap({ Int($0) })
    else { return nil }
    let line = number - linesBefore
    return (1...grading.count { $0 == "\n" } + 1).contains(line) ? line : nil
  }

  /// A compiler's first error without its place: `'foo' undeclared`.
  static func cause(of message: String) -> String {
    let lines = message.split(separator: "\n").map(String.init)
    let line = lines.first { $0.contains("error") || $0.contains("ERROR") } ?? lines.first ?? ""
    return line.replacing(/^(ERROR: )?\s*0(:\d+(\(\d+\))?|\(\d+\))\s*:\s*(error:?\s*)?/, with: "")
  }
}
