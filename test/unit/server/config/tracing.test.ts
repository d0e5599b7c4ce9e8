import { expect, test } from 'vitest'
import { ConfigError } from '../../../../src/server/config/config-error.ts'
import { tracingOf } from '../../../../src/server/config/tracing.ts'

const BASE = 'http://collector:4318'

test.each([
  ['nothing is said', {}],
  ['the endpoint is empty', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
  ['the SDK is disabled', { OTEL_EXPORTER_OTLP_ENDPOINT: BASE, OTEL_SDK_DISABLED: 'TRUE' }],
  ['traces go nowhere', { OTEL_EXPORTER_OTLP_ENDPOINT: BASE, OTEL_TRACES_EXPORTER: 'none' }],
  ['only the name is said', { OTEL_SERVICE_NAME: 'ctl' }],
])('no spans are recorded where %s', (_where, env) => {
  expect(tracingOf(env)).toBeUndefined()
})

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: BASE }, 'http://collector:4318/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector/otlp/' }, 'https://collector/otlp/v1/traces'],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: BASE, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:9/spans' },
    'http://traces:9/spans',
  ],
])('%j sends spans to %s', (env, endpoint) => {
  expect(tracingOf(env)).toEqual({ endpoint, timeoutMs: 3000, warning: undefined })
})

test('a time-out that is said is left to the library', () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: BASE, OTEL_EXPORTER_OTLP_TIMEOUT: '9000' }
  expect(tracingOf(env)?.timeoutMs).toBeUndefined()
})

test('a protocol that is not spoken is said', () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: BASE, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }
  expect(tracingOf(env)?.warning).toBe('OTEL_EXPORTER_OTLP_PROTOCOL is grpc; spans leave as http/json all the same')
})

test.each(['collector:4318', 'ftp://collector', 'nonsense'])('an endpoint %s stops the start', (endpoint) => {
  expect(() => tracingOf({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })).toThrow(
    new ConfigError(1, 'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL that begins with http:// or https://.'),
  )
})
