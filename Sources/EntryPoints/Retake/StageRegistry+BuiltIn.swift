public import RetakeGraph
import RetakeStages

#if Models
  import RetakeInference
#endif
#if Programs
  import RetakeForeign
#endif
#if Pulse
  import RetakePulse
#endif

extension StageRegistry {
  /// All built-in kinds of nodes, and the kinds of the annexes whose traits are enabled.
  public static let builtIn: StageRegistry = {
    var registry = StageRegistry.core
    #if Models
      registry.registerModels()
    #endif
    #if Programs
      registry.registerPrograms()
    #endif
    #if Pulse
      registry.registerPulse()
    #endif
    return registry
  }()
}
