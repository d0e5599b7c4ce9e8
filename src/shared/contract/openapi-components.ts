/** Parts of the document that no operation declares: problems, headers, credentials. */
export const SHARED_COMPONENTS = {
  headers: {
    XCorrelationId: {
      description: 'Identifies the request in the server log and the audit row.',
      schema: { type: 'string' },
    },
    XServiceApiVersion: {
      description: 'Current and latest major version.',
      schema: { type: 'string', examples: ['current=v1, latest=v1'] },
    },
    Deprecation: {
      description: 'Since when the operation is deprecated: `@` and Unix seconds (RFC 9745).',
      schema: { type: 'string' },
    },
    Sunset: { description: 'When the operation may go away (RFC 8594).', schema: { type: 'string' } },
    RateLimit: {
      description:
        'The exceeded limit, the remaining calls, and the seconds until there are more (draft-ietf-httpapi-ratelimit-headers). Only on 429.',
      schema: { type: 'string', examples: ['"node";r=0;t=1'] },
    },
    RateLimitPolicy: {
      description: 'The limit: a number of calls in a number of seconds.',
      schema: { type: 'string', examples: ['"node";q=10;w=1'] },
    },
    WWWAuthenticate: {
      description:
        'How to sign in: `Bearer`. Where the sign-in has to be a stronger one, with `error`, `acr_values` and `max_age` (RFC 9470).',
      schema: { type: 'string', examples: ['Bearer'] },
    },
    RetryAfter: { description: 'Seconds after which a retry is sensible.', schema: { type: 'string' } },
  },
  securitySchemes: {
    apiToken: { type: 'http', scheme: 'bearer', bearerFormat: 'psk_…', description: 'API token' },
    oidcJwt: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: "Token of the Domain's identity provider",
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: 'service_session',
      description:
        'Browser session. Changes are accepted only from allowed origins; some also need its anti-forgery token.',
    },
    nodeSecretKey: { type: 'http', scheme: 'bearer', bearerFormat: 'nsk_…', description: 'Secret key of one node' },
    joinToken: { type: 'http', scheme: 'bearer', bearerFormat: 'jtk_…', description: 'Token that nodes join with' },
    clientAssertion: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'Assertion of a workload' },
  },
  schemas: {
    Problem: {
      type: 'object',
      description: 'Problem document (RFC 9457). Some codes carry further members.',
      required: ['type', 'title', 'status', 'detail', 'code', 'correlation_id'],
      properties: {
        type: { type: 'string', description: 'Ends with the kebab form of the code' },
        title: { type: 'string' },
        status: { type: 'integer' },
        detail: { type: 'string', description: 'A fixed sentence for each code' },
        code: { type: 'string' },
        correlation_id: { type: 'string' },
        dimension: { type: 'string', description: 'With `capacity_exceeded`: what the Domain has too much of' },
        errors: {
          type: 'array',
          description: 'Invalid members of the body, or the errors of a selector with their places in bytes of UTF-8',
          items: {
            anyOf: [
              {
                type: 'object',
                required: ['pointer', 'detail'],
                properties: { pointer: { type: 'string', description: 'RFC 6901' }, detail: { type: 'string' } },
              },
              {
                type: 'object',
                required: ['offset', 'length', 'code', 'message', 'expected'],
                properties: {
                  offset: { type: 'integer' },
                  length: { type: 'integer' },
                  code: { type: 'string' },
                  message: { type: 'string' },
                  expected: { type: 'array', items: { type: 'string' } },
                },
              },
            ],
          },
        },
      },
    },
    OAuthProblem: {
      description: 'A problem with the member that OAuth clients read (RFC 6749 §5.2, RFC 8628 §3.5).',
      allOf: [
        { $ref: '#/components/schemas/Problem' },
        { type: 'object', required: ['error'], properties: { error: { type: 'string' } } },
      ],
    },
    PermissionDenied: {
      type: 'object',
      description: 'The caller lacks a relation. The same for an unknown object and a forbidden one.',
      required: [
        'type',
        'title',
        'status',
        'detail',
        'code',
        'correlation_id',
        'reason',
        'relation_path',
        'missing_relation',
      ],
      properties: {
        type: { type: 'string' },
        title: { type: 'string' },
        status: { type: 'integer' },
        detail: { type: 'string' },
        code: { type: 'string', const: 'permission_denied' },
        correlation_id: { type: 'string' },
        reason: { type: 'string', enum: ['insufficient_relation', 'out_of_scope'] },
        relation_path: {
          type: 'array',
          items: { type: 'string' },
          description: 'Relations that would have granted it',
        },
        missing_relation: {
          type: 'object',
          required: ['object', 'relation', 'subject'],
          properties: { object: { type: 'string' }, relation: { type: 'string' }, subject: { type: 'string' } },
        },
      },
    },
  },
} as const
