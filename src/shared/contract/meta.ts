import { defineSurface, open, OPERATOR } from './operation.ts'

export const meta = defineSurface('meta', 'The contract itself', {
  GetOpenapi: {
    method: 'GET',
    path: '/v1/openapi.json',
    summary: 'Fetch the machine-readable contract of this API (OpenAPI 3.1)',
    credentials: [...OPERATOR, 'nsk'],
    gate: open('S1 Capacity and documentation: any credential'),
    audit: { none: 'S1 Capacity and documentation names no audit relation; the contract tells nothing about a tenant' },
    responses: { 200: { media: 'application/json', describe: 'The OpenAPI document' } },
    problems: [],
    cli: { command: 'openapi', custom: true },
  },
})
