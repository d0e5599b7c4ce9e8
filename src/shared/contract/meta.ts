import { z } from 'zod'
import { defineSurface, open, OPERATOR } from './operation.ts'

/** The only asset of the documentation page: the renderer and its start-up code. */
export const DOCS_ASSET = 'redoc.standalone.js'

const asset = z
  .enum([DOCS_ASSET])
  .describe('The renderer of the documentation page')
  // S1 Capacity and documentation: any other name is this problem.
  .meta({ problem: 'not-found' })

const NO_AUDIT = {
  none: 'S1 Capacity and documentation names no audit relation; nothing in it is of a tenant',
} as const

/** Open to everybody: the only open operations of S1. */
const openPage = {
  method: 'GET',
  credentials: [],
  gate: open('S1 Authentication 1 and 2: the documentation page and its asset are open'),
  audit: NO_AUDIT,
  problems: [],
} as const

const sniffing = { 'X-Content-Type-Options': '`nosniff`: what it is, is what the media type says' }

export const meta = defineSurface('meta', 'The contract itself, for programs and for people', {
  GetOpenapi: {
    method: 'GET',
    path: '/v1/openapi.json',
    summary: 'Fetch the machine-readable contract of this API (OpenAPI 3.1)',
    description: 'The document that describes this API, with examples from a running server.',
    credentials: [...OPERATOR, 'nsk'],
    gate: open('S1 Capacity and documentation: any credential'),
    audit: NO_AUDIT,
    responses: { 200: { media: 'application/json', describe: 'The OpenAPI document' } },
    problems: [],
    cli: { command: 'openapi' },
  },
  GetDocs: {
    ...openPage,
    path: '/v1/docs',
    summary: 'Read the documentation of this API in a browser',
    description: 'The page contains the contract and loads only its own renderer from this server.',
    responses: { 200: { media: 'text/html; charset=utf-8', describe: 'The documentation page' } },
    headers: { ...sniffing, 'Content-Security-Policy': 'Confines the page to this server' },
  },
  GetDocsAsset: {
    ...openPage,
    path: '/v1/docs/assets/{asset}',
    summary: 'Fetch the renderer of the documentation page',
    description: 'The page at `/v1/docs` loads it; nothing else needs it.',
    params: z.strictObject({ asset }),
    responses: { 200: { media: 'application/javascript; charset=utf-8', describe: 'The renderer' } },
    headers: { ...sniffing, 'Cache-Control': 'For how long the renderer may be kept' },
  },
})
