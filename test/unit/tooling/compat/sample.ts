/** A contract that uses what the gate looks at. Members are read and changed at will. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into it by name, and break it in every way
export type Doc = any

const problem = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }

/** A fresh copy. */
export function sample(): Doc {
  return structuredClone({
    openapi: '3.1.0',
    info: { title: 'sample', version: 'v1', description: 'A sample' },
    servers: [{ url: '/' }],
    paths: {
      '/v1/things/{id}': {
        put: {
          operationId: 'PutThing',
          summary: 'Put a thing',
          parameters: [
            { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } },
            { name: 'limit', in: 'query', required: false, schema: { type: 'integer', maximum: 200, default: 50 } },
          ],
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  additionalProperties: false,
                  required: ['slug'],
                  anyOf: [{ required: ['slug'] }, { required: ['kind'] }],
                  properties: {
                    slug: { type: 'string', minLength: 1, maxLength: 63, pattern: '^[a-z]+$', description: 'Its name' },
                    kind: { type: 'string', enum: ['a', 'b'] },
                    size: { type: 'integer', default: 1 },
                    labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 9 } },
                    parts: { type: 'array', maxItems: 4, items: { $ref: '#/components/schemas/Part' } },
                    at: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] },
                  },
                },
              },
            },
          },
          responses: {
            200: {
              description: 'Put a thing',
              headers: { Location: { schema: { type: 'string' } } },
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
            },
            409: { description: 'Taken', content: problem, 'x-service-codes': ['slug_conflict', 'thing_locked'] },
            default: { description: 'Refused', content: problem },
          },
          security: [{ apiToken: [] }, { nodeSecretKey: [] }],
          'x-service-scope': 'things:write',
          'x-service-gate': { anyOf: [{ relation: 'manage', object: 'thing:{path.id}' }] },
          'x-service-body-bytes-max': 8192,
        },
      },
      '/v1/old': {
        get: {
          operationId: 'GetOld',
          deprecated: true,
          'x-service-deprecated-since': '2026-01-01T00:00:00Z',
          'x-service-sunset': '2027-01-01T00:00:00Z',
          'x-service-successor': 'PUT /v1/things/{id}',
          responses: { 204: { description: 'Done' } },
          security: [],
          'x-service-gate': { open: 'because' },
        },
      },
    },
    components: {
      securitySchemes: {
        apiToken: { type: 'http', scheme: 'bearer', bearerFormat: 'psk_…' },
        nodeSecretKey: { type: 'http', scheme: 'bearer' },
      },
      schemas: {
        Thing: {
          type: 'object',
          required: ['id', 'state'],
          properties: {
            id: { type: 'string', maxLength: 36 },
            state: { type: 'string', enum: ['up', 'down'] },
            note: { type: 'string', format: 'uuid' },
            parent: { $ref: '#/components/schemas/Thing' },
            place: { oneOf: [{ type: 'string' }, { $ref: '#/components/schemas/Part' }] },
          },
        },
        Part: { type: 'object', properties: { name: { type: 'string' } } },
        Problem: { type: 'object', required: ['code'], properties: { code: { type: 'string' } } },
      },
    },
  })
}

export const put = (doc: Doc): Doc => doc.paths['/v1/things/{id}'].put
export const old = (doc: Doc): Doc => doc.paths['/v1/old'].get
export const sent = (doc: Doc): Doc => put(doc).requestBody.content['application/json'].schema
export const thing = (doc: Doc): Doc => doc.components.schemas.Thing

/** What the nodes of that contract are sent. */
export function sampleEvents(): Doc {
  return structuredClone({
    title: 'sample',
    version: 'v1',
    operation: 'GET /v1/things/{id}/events',
    events: {
      thing_changed: {
        type: 'object',
        description: 'A thing changed',
        properties: {
          reason: { type: 'string', enum: ['changed', 'resync'] },
          blocks: { type: 'array', items: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'string' }] } },
          parts: {
            type: 'array',
            items: {
              type: 'object',
              properties: { name: { type: 'string' }, size: { type: 'integer' } },
              required: ['name'],
            },
          },
        },
        required: ['reason', 'blocks', 'parts'],
      },
      thing_gone: { type: 'object', properties: { id: { type: 'string', format: 'uuid' } }, required: ['id'] },
    },
    formats: {
      sealed: {
        summary: 'Sealed',
        operation: 'GET /v1/things/{id}/key',
        schema: {
          type: 'object',
          properties: {
            layout: { const: 'nonce | ciphertext' },
            bytes: { const: 60 },
            text: { type: 'string', pattern: '^[a-z]$' },
            alg: { type: 'string', enum: ['one'] },
          },
          required: ['layout', 'bytes', 'text', 'alg'],
        },
      },
    },
  })
}
