import type { ManifestOperation, ManifestShape } from '../../../src/shared/contract/manifest-format.ts'
import { manifest } from './cli-run.ts'
import { startStub, type SeenRequest, type StubAnswer, type StubServer } from './stub-server.ts'

const UUID = '019c1a10-0000-7000-8000-000000110001'

/** A server that answers every operation with a value of its shape. */
export function startShapeServer(): Promise<StubServer> {
  return startStub({}, answerTo)
}

/** The operation that a request calls. */
export function operationAt({ method, path }: Pick<SeenRequest, 'method' | 'path'>): ManifestOperation | undefined {
  return Object.values(manifest.operations).find((one) => one.method === method && isAt(one, path))
}

function answerTo({ method, path }: SeenRequest): StubAnswer {
  if (path === '/readyz') return { body: { status: 'ready', probes: {} } }
  const operation = operationAt({ method, path })
  if (operation === undefined) return { status: 404, body: {} }
  if (operation.id === 'GetOpenapi') return { body: { openapi: '3.1.0' } }
  const [response] = operation.responses
  const shape = operation.shapes?.[response?.status ?? 0]
  return { status: response?.status ?? 200, ...(shape && { body: sampleOf('', shape) }) }
}

function isAt({ path: template }: ManifestOperation, path: string): boolean {
  return new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path)
}

/** Members of label Definitions by which the command line judges labels before it sets them: here every label fits. */
const FITTING: Readonly<Record<string, unknown>> = { value_schema: { type: 'string' }, kinds: [], immutable: false }

function sampleOf(name: string, shape: ManifestShape): unknown {
  const { type, items, fields = [] } = shape
  if (Object.hasOwn(FITTING, name)) return FITTING[name]
  if (name === 'next_cursor' || name === 'next_seq') return null
  if (type === 'string') return textOf(name)
  if (type === 'integer' || type === 'number') return 1
  if (type === 'boolean') return true
  if (type === 'array') return items === undefined || items.type === 'json' ? [] : [sampleOf('', items)]
  if (type === 'object') return Object.fromEntries(fields.map((field) => [field.name, sampleOf(field.name, field)]))
  return null
}

function textOf(name: string): string {
  if (/(?:^|_)id$/.test(name)) return UUID
  if (/_at$|^at$|since|until|expires/.test(name)) return '2026-01-30T12:00:00.000Z'
  if (name === 'subject') return `user:${UUID}`
  if (name === 'resource' || name === 'object') return `project:${UUID}`
  return { decision: 'allowed', reachability: 'healthy', state: 'healthy', relation: 'viewer' }[name] ?? 'text'
}
