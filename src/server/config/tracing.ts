import { ConfigError } from './config-error.ts'

/** Where spans are exported to. The library itself reads the other variables. */
export interface TracingSettings {
  /** The complete URL that receives the spans. */
  readonly endpoint: string
  /** How long the collector may take for a batch, ms; undefined where the variables say it. */
  readonly timeoutMs: number | undefined
  /** Settings that are not supported, for the log. */
  readonly warning: string | undefined
}

type Variables = Readonly<Record<string, string | undefined>>

const EVERYTHING = 'OTEL_EXPORTER_OTLP_ENDPOINT'
const TRACES = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'

/** Less than the 10 s of the specification: a batch that hangs delays the shutdown by this time. */
const TIMEOUT_MS = 3_000

/**
 * Whether spans are exported: where the standard variables of OpenTelemetry name an endpoint and neither switch it off.
 *
 * @throws ConfigError for an endpoint that is no HTTP URL.
 */
export function tracingOf(env: Variables): TracingSettings | undefined {
  const name = isSaid(env[TRACES]) ? TRACES : EVERYTHING
  const said = env[name]
  if (!isSaid(said) || isOff(env)) return undefined
  const url = URL.canParse(said) ? new URL(said) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new ConfigError(1, `${name} must be a URL that begins with http:// or https://.`)
  // OTLP exporter specification: the general endpoint is a base URL, the one of traces a complete URL.
  if (name === EVERYTHING) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`
  return { endpoint: url.href, timeoutMs: isTimed(env) ? undefined : TIMEOUT_MS, warning: protocolWarning(env) }
}

function isSaid(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== ''
}

function isOff(env: Variables): boolean {
  return env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none'
}

function isTimed(env: Variables): boolean {
  return isSaid(env['OTEL_EXPORTER_OTLP_TIMEOUT']) || isSaid(env['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT'])
}

function protocolWarning(env: Variables): string | undefined {
  const name = isSaid(env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'])
    ? 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'
    : 'OTEL_EXPORTER_OTLP_PROTOCOL'
  const said = env[name]
  if (!isSaid(said) || said === 'http/json') return undefined
  return `${name} is ${said}; spans leave as http/json all the same`
}
