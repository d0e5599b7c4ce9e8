import type { Logger } from 'pino'
import type { OtlpTracing } from '../adapters/otlp-tracing/otlp-tracing.ts'
import type { TracingSettings } from '../config/tracing.ts'
import { packageVersion } from './package-version.ts'
import { throttledReporter } from './throttled-reporter.ts'

/** A collector that is away would otherwise fill the log every few seconds. */
const REPORT_EVERY_MS = 60_000

/** Begins to record spans. What records them is loaded only here. */
export async function openTracing(
  { endpoint, timeoutMs, warning }: TracingSettings,
  log: Logger,
): Promise<OtlpTracing> {
  const { createOtlpTracing } = await import('../adapters/otlp-tracing/otlp-tracing.ts')
  if (warning !== undefined) log.warn(warning)
  const report = throttledReporter(
    (subject, cause) => log.warn({ cause }, subject),
    REPORT_EVERY_MS,
    () => performance.now(),
  )
  return createOtlpTracing({
    endpoint,
    timeoutMs,
    version: packageVersion(),
    onFailure: (cause) => report('spans were lost or tracing is badly configured', cause),
  })
}
